// The closed-loop CPU limiter: from the CPU time that a kernel really used,
// decides whether it may run in the next slice. What it used beyond its share is a debt that stopped slices
// pay back; what it could not use because the machine was busy is credit only up to `credit_max`, so it never
// bursts later. Open-loop slices fail (up to 20 % off) because other load eats them unseen; this one is
// within a slice of exact over any period in which the kernel could have had its share. Pure. Cost: O(1). Not
// thread-safe.
#pragma once

#include <chrono>

#include "shared/base/clock.h"

namespace gleaner::client_policy {

enum class Slice { run, stop };

class CpuShare {
 public:
  // `share`: CPU seconds allowed per second of elapsed time; may exceed 1 for a kernel with several threads.
  explicit CpuShare(double share) : share_(share) {}

  // Called once a slice (10 ms): `elapsed` since the last call, `consumed` CPU time in it.
  [[nodiscard]] Slice next(Duration elapsed, Duration consumed);
  void set_share(double share) { share_ = share; }
  // Positive: credit. Negative: debt.
  [[nodiscard]] Duration balance() const { return from_seconds(balance_); }

  // How long a stopped kernel must stay stopped until its debt is paid.
  [[nodiscard]] Duration until_credit() const;

  static constexpr Duration slice = std::chrono::milliseconds{10};
  static constexpr Duration credit_max = std::chrono::milliseconds{250};
  // Of a second on 64 cores; a wrong reading must not stop it for ever.
  static constexpr Duration debt_max = std::chrono::minutes{1};

 private:
  double share_;
  double balance_ = 0;
};

}  // namespace gleaner::client_policy
