#include "server/policy/outlook/disk.h"

#include <algorithm>

namespace gleaner::policy {
namespace {

constexpr Duration apart = std::chrono::minutes{1};
constexpr Duration known_min = std::chrono::minutes{30};
constexpr Duration known_max = std::chrono::hours{6};
constexpr double ahead_max = 12;  // times what is known

}  // namespace

void DiskOutlook::note(Timestamp now, std::int64_t free_bytes) {
  if (!samples_.empty() && now < samples_.back().at) samples_.clear();  // the clock was set
  if (!samples_.empty() && now - samples_.back().at < apart) return;
  samples_.push_back({now, free_bytes});
  while (now - samples_.front().at > known_max) samples_.pop_front();
}

std::optional<Duration> DiskOutlook::until(std::int64_t reserve_bytes) const {
  if (samples_.empty() || samples_.back().at - samples_.front().at < known_min) return std::nullopt;
  const double seconds = to_seconds(samples_.back().at - samples_.front().at);
  const auto taken = static_cast<double>(samples_.front().free_bytes - samples_.back().free_bytes);
  if (taken <= 0) return std::nullopt;
  const auto left = static_cast<double>(samples_.back().free_bytes - reserve_bytes);
  const double ahead = std::max(0.0, left) * seconds / taken;
  return ahead > ahead_max * seconds ? std::nullopt : std::optional(from_seconds(ahead));
}

}  // namespace gleaner::policy
