// The items of a problem added up, with standard errors. Sums are exact; errors come from the differences
// between items, or for totals from the squared weights of single photons. Add items in their order: squares
// are floating point. Not thread-safe. Memory: 24 bytes a number of the layout.
#pragma once

#include <vector>

#include "apps/photons/outcome.h"

namespace gleaner::photons {

struct Estimate {
  double value = 0;
  double error = 0;  // one standard deviation; 0 if there are too few items to say
};

class Sums {
 public:
  explicit Sums(const Settings& settings);
  void add(std::int64_t item, const Tallies& tallies);

  [[nodiscard]] const Settings& settings() const { return settings_; }
  [[nodiscard]] const Layout& layout() const { return layout_; }
  [[nodiscard]] double photons() const { return photons_; }
  [[nodiscard]] double items() const { return items_; }
  // The number at a place of the layout, as weight for each photon sent.
  [[nodiscard]] Estimate of(std::int64_t place) const;
  [[nodiscard]] Estimate of_range(std::int64_t begin, std::int64_t end) const;  // without an error
  // The sum of a number as it is.
  [[nodiscard]] double total(std::int64_t place) const;

  [[nodiscard]] Estimate reflected() const { return from_squares(blocks_[0], layout_.squares); }
  [[nodiscard]] Estimate transmitted() const { return from_squares(blocks_[1], layout_.squares + 1); }
  [[nodiscard]] Estimate absorbed() const { return from_squares(blocks_[2], layout_.squares + 2); }
  [[nodiscard]] Estimate detected() const {
    return from_squares(total(layout_.detector + 1), layout_.detector + 2);
  }
  [[nodiscard]] double lost() const { return blocks_[3] * weight_unit / photons_; }
  [[nodiscard]] double events() const { return blocks_[5] / photons_; }

 private:
  __extension__ using Wide = __int128;
  [[nodiscard]] Estimate from_squares(double sum, std::int64_t squares) const;

  const Settings settings_;
  const Layout layout_;
  double photons_ = 0;
  double items_ = 0;
  double blocks_[6] = {};
  std::vector<Wide> sums_;
  std::vector<double> squares_;  // of an item's sum, over its photons
};

}  // namespace gleaner::photons
