#include "tools/loadgen/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace gleaner::loadgen {
namespace {

constexpr int detail_bits = 6;  // 64 buckets a doubling
constexpr std::int64_t detail = std::int64_t{1} << detail_bits;
constexpr std::int64_t longest_counted = std::int64_t{1} << 34;  // 4.8 hours

// Below 128 each microsecond has its own; above, the leading seven bits and how far they are shifted.
std::size_t bucket_of(std::int64_t microseconds) {
  const int width = std::bit_width(static_cast<std::uint64_t>(microseconds));
  const int shift = std::max(0, width - detail_bits - 1);
  return static_cast<std::size_t>(shift * detail + (microseconds >> shift));
}

// The largest value that falls into it.
std::int64_t bound_of(std::size_t bucket) {
  const auto number = static_cast<std::int64_t>(bucket);
  const std::int64_t shift = std::max<std::int64_t>(0, number / detail - 1);
  return ((number - shift * detail + 1) << shift) - 1;
}

}  // namespace

Histogram::Histogram() : buckets_(bucket_of(longest_counted) + 1) {}

void Histogram::add(Duration latency) {
  const std::int64_t microseconds = std::clamp<std::int64_t>(latency.count(), 0, longest_counted);
  ++buckets_[bucket_of(microseconds)];
  ++count_;
  longest_ = std::max(longest_, latency);
}

void Histogram::clear() {
  *this = Histogram();
}

Duration Histogram::percentile(double share) const {
  const auto wanted = static_cast<std::int64_t>(std::ceil(share * static_cast<double>(count_)));
  std::int64_t seen = 0;
  for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
    seen += buckets_[bucket];
    if (seen >= wanted && seen > 0) return std::min(Duration(bound_of(bucket)), longest_);
  }
  return longest_;
}

}  // namespace gleaner::loadgen
