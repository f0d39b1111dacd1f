// Whether a process group that was stopped stands still. It should use no processor time at all; what stops a
// moment late uses a little, and what found a way to continue itself uses a lot. The holder reads the group's
// processor time now and then, tells it here, and does what the verdict says. Pure. Not thread-safe.
#pragma once

#include <string>

#include "shared/base/clock.h"

namespace gleaner::io {

class Standstill {
 public:
  enum class Verdict {
    still,
    stop_again,  // it runs: it gets SIGSTOP again
    end          // it took taken_max altogether: it is to be killed, with words() as the reason
  };

  // It was stopped just now. `processors`: on which it may have run until then.
  void begin(int processors) { late_ = late_max * processors; }
  // It used `used` since the last call or begin().
  [[nodiscard]] Verdict look(Duration used);
  // It ran for `elapsed` as it may: what it took while it was stopped is forgiven bit by bit.
  void ran(Duration elapsed);
  // "used 0.6 s of processor time while it was paused"
  [[nodiscard]] std::string words() const;

  // A busy computer lets a stopped process run until it sees the signal. Measured: some milliseconds.
  static constexpr Duration late_max = std::chrono::milliseconds{20};
  static constexpr Duration noise_max = std::chrono::milliseconds{1};
  static constexpr Duration taken_max = std::chrono::milliseconds{500};

  // How often to look: again soon after the stop, then ever more rarely.
  static constexpr Duration interval_min = std::chrono::milliseconds{50};
  static constexpr Duration interval_max = std::chrono::seconds{1};

 private:
  Duration late_{0};  // what it may still use for being late
  Duration taken_{0};
};

}  // namespace gleaner::io
