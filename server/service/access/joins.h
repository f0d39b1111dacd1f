// How often joining may be tried from one network. What is refused may come later. Thread-safe.
#pragma once

#include <cstdint>
#include <string>

#include "server/service/core/network_buckets.h"
#include "shared/base/result.h"

namespace gleaner::service {

class Joins {
 public:
  explicit Joins(std::int64_t per_hour) : per_hour_(per_hour), buckets_(per_hour, per_hour) {}

  // One more from `network`. unavailable: not now.
  [[nodiscard]] Status admit(const std::string& network, SteadyTime now);

 private:
  const std::int64_t per_hour_;
  NetworkBuckets buckets_;
};

}  // namespace gleaner::service
