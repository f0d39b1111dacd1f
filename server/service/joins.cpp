#include "server/service/joins.h"

#include <fmt/format.h>

#include <algorithm>

namespace gleaner::service {
namespace {

constexpr std::size_t networks_max = 10'000;  // remembered at a time
constexpr double hour = 3600;

}  // namespace

double Joins::tokens(const Bucket& bucket, SteadyTime now) const {
  return std::min(per_hour_, bucket.tokens + to_seconds(now - bucket.at) * per_hour_ / hour);
}

Status Joins::admit(const std::string& network, SteadyTime now) {
  const std::lock_guard lock(mutex_);
  // Full buckets say nothing. If all have lately been used, somebody has many networks: nobody is refused for
  // that, the memory stays bounded.
  if (buckets_.size() >= networks_max)
    std::erase_if(buckets_, [&](const auto& entry) { return tokens(entry.second, now) >= per_hour_; });
  if (buckets_.size() >= networks_max) buckets_.clear();
  Bucket& bucket = buckets_.try_emplace(network, Bucket{per_hour_, now}).first->second;
  bucket = {tokens(bucket, now), now};
  if (bucket.tokens < 1)
    return Error{
        ErrorKind::unavailable,
        fmt::format("more than {:.0f} joinings were tried from {} within an hour: try again in some minutes, "
                    "or ask the administrator to raise hosts.joins_per_hour",
                    per_hour_, network)};
  bucket.tokens -= 1;
  return {};
}

}  // namespace gleaner::service
