#include "shared/transport/piece_size.h"

#include <algorithm>

namespace gleaner::transport {
namespace {
constexpr std::int64_t growth_max = 4;  // a burst may be a buffer's that was empty
constexpr std::int64_t shrink = 4;
constexpr double newest_weight = 0.5;
}  // namespace

void PieceSize::moved(std::int64_t bytes, Duration took) {
  if (bytes <= 0 || took <= Duration{0} || 2 * bytes < next_)
    return;  // the round trip tells more than the line
  const double rate = static_cast<double>(bytes) / to_seconds(took);
  rate_ = rate_ > 0 ? rate_ + newest_weight * (rate - rate_) : rate;
  const double fits = std::min(rate_ * to_seconds(bounds_.aim), static_cast<double>(growth_max * next_));
  next_ = std::clamp(static_cast<std::int64_t>(fits), bounds_.least, bounds_.most);
}

void PieceSize::broken() {
  next_ = std::max(bounds_.least, next_ / shrink);
}

Duration PieceSize::expected(std::int64_t bytes) const {
  return rate_ > 0 ? from_seconds(static_cast<double>(bytes) / rate_) : Duration{0};
}

}  // namespace gleaner::transport
