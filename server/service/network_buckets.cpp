#include "server/service/network_buckets.h"

#include <algorithm>

namespace gleaner::service {
namespace {

constexpr std::size_t networks_max = 10'000;  // remembered at a time
constexpr double hour = 3600;

}  // namespace

double NetworkBuckets::tokens(const Bucket& bucket, SteadyTime now) const {
  return std::min(size_, bucket.tokens + to_seconds(now - bucket.at) * per_hour_ / hour);
}

bool NetworkBuckets::take(const std::string& network, SteadyTime now) {
  const std::lock_guard lock(mutex_);
  // Full buckets say nothing. If all have lately been used, somebody has many networks: nobody is refused for
  // that, the memory stays bounded.
  if (buckets_.size() >= networks_max)
    std::erase_if(buckets_, [&](const auto& entry) { return tokens(entry.second, now) >= size_; });
  if (buckets_.size() >= networks_max) buckets_.clear();
  Bucket& bucket = buckets_.try_emplace(network, Bucket{size_, now}).first->second;
  bucket = {tokens(bucket, now), now};
  if (bucket.tokens < 1) return false;
  bucket.tokens -= 1;
  return true;
}

}  // namespace gleaner::service
