// How often something may be tried from one network: a bucket of tokens for each, filled evenly. Thread-safe.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "shared/base/clock.h"

namespace gleaner::service {

class NetworkBuckets {
 public:
  NetworkBuckets(double size, double per_hour) : size_(size), per_hour_(per_hour) {}

  // One more from `network` (an address, or whatever stands for who asks). False: not now.
  [[nodiscard]] bool take(const std::string& network, SteadyTime now);

 private:
  struct Bucket {
    double tokens = 0;
    SteadyTime at{};
  };
  [[nodiscard]] double tokens(const Bucket& bucket, SteadyTime now) const;

  const double size_;
  const double per_hour_;
  std::mutex mutex_;
  std::map<std::string, Bucket> buckets_;
};

}  // namespace gleaner::service
