// When a problem will be done, and between which times that is likely. Pure; not thread-safe.
//
// Two things tell how fast it goes: what the hosts at work can do (their measured rates; right at once when
// hosts come or go, wrong when they pause or their items are harder than hinted), and what was delivered
// lately (right about pauses and hard items, late about hosts that come and go). The estimate takes their
// geometric mean, and the interval reaches as far as they disagree and as the last minute's rate has swung
// about the last ten's. What was delivered is averaged over about as long as there is to go, so that an end
// in a minute is told from the last minute and one in a day from the last day. [server/policy/POLICY.md,
// "When it ends"]
#pragma once

#include <array>

#include "shared/base/clock.h"

namespace gleaner::policy {

// What a stage's hosts deliver: decayed means of the rate over several windows.
class Pace {
 public:
  static constexpr std::array<double, 4> windows{60, 600, 7200, 86400};  // seconds

  // Hint units that were accepted; the first time also how many seconds they were computed.
  void delivered(Timestamp at, double cost, double seconds);

  struct Rate {
    double rate = 0;        // hint units a second; 0: nothing was delivered
    double deliveries = 0;  // that tell it, decayed
    double swing = 0;       // mean square of the logarithm of a minute's rate by that of ten
  };
  // Over the shortest window that is at least `seconds` long, or the longest there is.
  [[nodiscard]] Rate over(double seconds, Timestamp now) const;

 private:
  struct Window {
    double cost = 0, deliveries = 0;  // decayed up to last_
  };
  // A mean from the beginning on: what is not yet seen of the window does not count as idle.
  [[nodiscard]] double rate(std::size_t window, Timestamp now) const;
  std::array<Window, windows.size()> means_{};
  Window swing_{};
  Timestamp begun_{}, last_{};
  bool any_ = false;
};

// Seconds from now, at most 1e9; negative: unknown.
struct Forecast {
  double seconds = -1, low = -1, high = -1;  // low to high: about two times of three
};
// `cost_left`: hint units; `fleet_rate`: those a second of all slots now at work; 0: not measured yet, and
// what was delivered tells alone. Unknown without either.
[[nodiscard]] Forecast forecast(const Pace& pace, double cost_left, double fleet_rate, Timestamp now);

// How much of the whole problem is done, 0 to 1: `before` when its stage began, and of the rest the accepted
// cost by that of the stage and of what the manager says is ahead of it.
[[nodiscard]] double done_of(double before, double accepted, double cost, double ahead);
// The same for the beginning of the stage that follows stage number `stage` (0, 1 ...). Where the manager
// said that nothing was ahead, and something is, the stages count alike.
[[nodiscard]] double done_after(double before, double cost, double ahead, int stage);
// What a stage wasted of its hint units, in parts of the whole problem, as done_of() measures it.
[[nodiscard]] double waste_of(double before, double wasted, double cost, double ahead);
// What was wasted by the time the next stage begins: `before_it` by the stages before this one, `wasted` by
// it. The same parts of a whole that is known better by now, of which `next_before` is done (done_after()).
[[nodiscard]] double waste_after(double before_it, double wasted, double full, double next_before);

}  // namespace gleaner::policy
