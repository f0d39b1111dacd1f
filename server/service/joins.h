// How often joining may be tried from one network: a bucket of tokens for each, filled evenly over an hour.
// What is refused may come later. Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "shared/base/clock.h"
#include "shared/base/result.h"

namespace gleaner::service {

class Joins {
 public:
  explicit Joins(std::int64_t per_hour) : per_hour_(static_cast<double>(per_hour)) {}

  // One more from `network` (an address, or whatever stands for who asks). unavailable: not now.
  [[nodiscard]] Status admit(const std::string& network, SteadyTime now);

 private:
  struct Bucket {
    double tokens = 0;
    SteadyTime at{};
  };
  [[nodiscard]] double tokens(const Bucket& bucket, SteadyTime now) const;

  const double per_hour_;
  std::mutex mutex_;
  std::map<std::string, Bucket> buckets_;
};

}  // namespace gleaner::service
