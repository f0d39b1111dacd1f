// A plane of any size as a picture of bounded size. Pixels may come in any order; those that never come are
// drawn dark blue. Not thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "shared/base/result.h"

namespace gleaner::hologram {

class Thumbnail {
 public:
  // A picture's pixel is the brightest of those that fall into it, so that points stay visible; or the first,
  // where the brightest means nothing.
  enum class Pick { brightest, first };
  // How values become grey: in proportion to the greatest, or to its square root, or by eight decades of the
  // logarithm; or from -pi to pi.
  enum class Scale { linear, root, decades, angle };

  Thumbnail(std::int64_t rows, std::int64_t columns, std::int64_t picture_side, Pick pick);

  // REQUIRES: inside; a value is finite, and >= 0 but for angles.
  void put(std::int64_t row, std::int64_t column, float value) {
    if (!looks_at(row, column)) return;
    float& place = values_[static_cast<std::size_t>((row >> shift_) * width_ + (column >> shift_))];
    if (value > place) place = value;
  }
  // Is (row, column) one that put() would look at?
  [[nodiscard]] bool looks_at(std::int64_t row, std::int64_t column) const {
    const std::int64_t inside = (std::int64_t{1} << shift_) - 1;
    return pick_ == Pick::brightest || ((row | column) & inside) == 0;
  }
  [[nodiscard]] Status write(const std::filesystem::path& path, Scale scale) const;
  [[nodiscard]] std::int64_t width() const { return width_; }
  [[nodiscard]] std::int64_t height() const { return height_; }

 private:
  Pick pick_;
  int shift_ = 0;  // a picture's pixel stands for 2^shift in each direction
  std::int64_t width_ = 0;
  std::int64_t height_ = 0;
  std::vector<float> values_;
};

}  // namespace gleaner::hologram
