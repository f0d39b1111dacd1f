// How long answers took, as counts: buckets that grow with what they hold, so that a percentile is at
// most 1.6 % above the true one (64 buckets for each doubling) from a microsecond to hours, whatever the
// number of answers. Not thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "shared/base/clock.h"

namespace gleaner::loadgen {

class Histogram {
 public:
  Histogram();
  void add(Duration latency);
  void clear();
  [[nodiscard]] std::int64_t count() const { return count_; }
  // The smallest bound that `share` of all stay within; 0 of none. `share` is from 0 to 1.
  [[nodiscard]] Duration percentile(double share) const;
  [[nodiscard]] Duration longest() const { return longest_; }

 private:
  std::vector<std::int64_t> buckets_;
  std::int64_t count_ = 0;
  Duration longest_{0};
};

}  // namespace gleaner::loadgen
