#include "server/service/core/network_buckets.h"

namespace gleaner::service {
namespace {

constexpr std::size_t networks_max = 10'000;  // remembered at a time

}  // namespace

bool NetworkBuckets::take(const std::string& network, SteadyTime now) {
  const std::lock_guard lock(mutex_);
  // Full buckets say nothing. If all have lately been used, somebody has many networks: nobody is refused for
  // that, the memory stays bounded.
  if (buckets_.size() >= networks_max)
    std::erase_if(buckets_, [&](const auto& entry) { return entry.second.missing(now) == Duration{0}; });
  if (buckets_.size() >= networks_max) buckets_.clear();
  Bucket& bucket = buckets_[network];
  if (bucket.missing(now) + worth_ > depth_) return false;
  bucket.take(worth_, now);
  return true;
}

}  // namespace gleaner::service
