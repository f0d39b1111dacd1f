#include "apps/photons/sums.h"

#include <cmath>

namespace gleaner::photons {

Sums::Sums(const Settings& settings)
    : settings_(settings),
      layout_(settings),
      sums_(static_cast<std::size_t>(layout_.size)),
      squares_(static_cast<std::size_t>(layout_.size)) {}

void Sums::add(std::int64_t item, const Tallies& tallies) {
  const auto photons = static_cast<double>(settings_.item_range(item).size());
  photons_ += photons;
  items_ += 1;
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    const auto value = static_cast<double>(tallies[i]);
    sums_[i] += tallies[i];
    squares_[i] += value * value / photons;
  }
  for (std::size_t i = 0; i < 6; ++i) {
    blocks_[i] = 0;
    for (std::int64_t b = 0; b < item_blocks; ++b)
      blocks_[i] += total(layout_.blocks + 6 * b + static_cast<std::int64_t>(i));
  }
}

double Sums::total(std::int64_t place) const {
  return static_cast<double>(sums_[static_cast<std::size_t>(place)]);
}

Estimate Sums::of(std::int64_t place) const {
  const double mean = total(place) / photons_;
  Estimate estimate{mean * weight_unit, 0};
  if (items_ < 2) return estimate;
  const double spread = squares_[static_cast<std::size_t>(place)] - photons_ * mean * mean;
  if (spread > 0) estimate.error = std::sqrt(spread / (items_ - 1) / photons_) * weight_unit;
  return estimate;
}

Estimate Sums::of_range(std::int64_t begin, std::int64_t end) const {
  Wide sum = 0;
  for (std::int64_t i = begin; i < end; ++i) sum += sums_[static_cast<std::size_t>(i)];
  return {static_cast<double>(sum) * weight_unit / photons_, 0};
}

Estimate Sums::from_squares(double sum, std::int64_t squares) const {
  const double mean = sum * weight_unit / photons_;
  const double variance = total(squares) * weight_unit / photons_ - mean * mean;
  return {mean, variance > 0 ? std::sqrt(variance / photons_) : 0};
}

}  // namespace gleaner::photons
