// How long to wait before a failed request is tried again: exponential with full jitter (uniform over the
// whole interval, so that clients which failed together do not come back together), bounded, and never before
// the server's Retry-After. Pure: randomness is an argument. Cost: O(1). Not thread-safe.
#pragma once

#include <chrono>
#include <optional>

#include "shared/base/clock.h"
#include "shared/base/random.h"

namespace gleaner::client_policy {

struct BackoffLimits {
  Duration least = std::chrono::milliseconds{100};  // no hot loop, however lucky the draw
  Duration first = std::chrono::seconds{1};
  Duration most = std::chrono::minutes{10};
};

class Backoff {
 public:
  explicit Backoff(BackoffLimits limits = {}) : limits_(limits) {}

  // The n-th failure in a row: uniform in [least, min(most, first * 2^(n-1))]. With `retry_after`: that (at
  // most an hour), plus up to a tenth of it and 250 ms of jitter, if it is longer.
  [[nodiscard]] Duration failed(Random& random, std::optional<Duration> retry_after = std::nullopt);
  void succeeded() { failures_ = 0; }
  [[nodiscard]] int failures() const { return failures_; }

 private:
  BackoffLimits limits_;
  int failures_ = 0;
};

// A wait that the server asked for, spread (shared/protocol/pacing.h) so that hosts parked together do not
// return together.
[[nodiscard]] Duration spread(Random& random, Duration wait);

}  // namespace gleaner::client_policy
