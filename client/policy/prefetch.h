// When a slot asks for its next unit: before the unit in hand ends, so that its kernel never waits for the
// network, but as late as possible, because the server could have sized a unit better that now waits on a
// host. At most one unit waits per slot. Prefetching removes request delay and transfer time from the
// makespan (tests/reproduction/GATES.md says what that is worth). Pure. Cost: O(1).
#pragma once

#include <chrono>
#include <optional>

#include "shared/base/clock.h"

namespace gleaner::client_policy {

struct PrefetchView {
  bool busy = false;         // a unit is being computed in the slot
  bool has_waiting = false;  // its successor is here, or on its way
  std::optional<Duration>
      remaining;            // of the unit in hand at its present rate; unknown until an item is done
  Duration round_trip{0};   // measured, of a work request; 0 unknown
  Duration preparation{0};  // measured, from grant to ready (downloads, installation); 0 unknown
};

// The lead: 2 * round trip + preparation + margin, at least `lead_min`, at most `lead_max`.
inline constexpr Duration lead_margin = std::chrono::milliseconds{50};
inline constexpr Duration lead_min = std::chrono::milliseconds{100};
inline constexpr Duration lead_max = std::chrono::minutes{5};
[[nodiscard]] Duration lead(const PrefetchView& view);

enum class Ask { no, soon /* urgent = false */, now /* idle: urgent = true */ };
[[nodiscard]] Ask should_ask(const PrefetchView& view);
// How long until should_ask() would say `soon` if the rate stays; nothing if that cannot be told or it says
// so now.
[[nodiscard]] std::optional<Duration> until_ask(const PrefetchView& view);

// How long the last segment of a finished unit waits for a request that is about to be sent and takes it
// along, if one is: the slot of `view` would ask within a second.
[[nodiscard]] std::optional<Duration> piggyback_wait(const PrefetchView& view);

// The recent mean of a measured time; the first one counts whole. Zero: none was measured.
class RecentMean {
 public:
  explicit RecentMean(double weight) : weight_(weight) {}  // of the newest, (0, 1]
  void add(Duration measured);
  [[nodiscard]] Duration value() const { return value_; }

 private:
  double weight_;
  Duration value_{0};
};
inline constexpr double round_trip_weight = 0.3, preparation_weight = 0.5;

}  // namespace gleaner::client_policy
