// How a host that keeps failing is held back: full back-off doubling from 30 s to 6 h with each failure in a
// row, forgotten after a success. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "shared/base/clock.h"

namespace gleaner::policy {

struct HostHealth {
  int failures_in_row = 0;
  std::int64_t failures = 0;
  Timestamp blocked_until{};
  std::string reason;

  friend bool operator==(const HostHealth&, const HostHealth&) = default;
};

[[nodiscard]] HostHealth after_failure(HostHealth health, const std::string& reason, Timestamp now);
[[nodiscard]] HostHealth after_success(HostHealth health);
// Seconds until it may get work again; nothing: now.
[[nodiscard]] std::optional<double> blocked_for(const HostHealth& health, Timestamp now);

}  // namespace gleaner::policy
