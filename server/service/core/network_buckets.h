// How often something may be tried from one network: a bucket of tokens for each, filled evenly. Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "server/service/core/bucket.h"

namespace gleaner::service {

class NetworkBuckets {
 public:
  NetworkBuckets(std::int64_t size, std::int64_t per_hour)
      : worth_(Duration{std::chrono::hours{1}} / per_hour), depth_(worth_ * size) {}

  // One more from `network` (an address, or whatever stands for who asks). False: not now.
  [[nodiscard]] bool take(const std::string& network, SteadyTime now);

 private:
  const Duration worth_;  // of one try
  const Duration depth_;
  std::mutex mutex_;
  std::map<std::string, Bucket> buckets_;
};

}  // namespace gleaner::service
