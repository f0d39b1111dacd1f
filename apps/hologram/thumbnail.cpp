#include "apps/hologram/thumbnail.h"

#include <algorithm>
#include <cmath>

#include "apps/kit/png.h"
#include "apps/kit/portable_math.h"
#include "shared/base/encoding.h"

namespace gleaner::hologram {
namespace {

constexpr float missing = -1e30F;
constexpr unsigned char missing_colour[3] = {0x20, 0x24, 0x48};
constexpr double decades = 8;

double grey(float value, float greatest, Thumbnail::Scale scale) {
  constexpr double pi = 0x1.921fb54442d18p+1;
  constexpr double ln10 = 0x1.26bb1bbb55516p+1;
  if (scale == Thumbnail::Scale::angle) return (value + pi) / (2 * pi);
  const double part = greatest > 0 ? static_cast<double>(value) / static_cast<double>(greatest) : 0;
  switch (scale) {
    case Thumbnail::Scale::root:
      return std::sqrt(part);
    case Thumbnail::Scale::decades:
      return part > 0 ? 1 + kit::portable_log(part) / ln10 / decades : 0;
    case Thumbnail::Scale::linear:
    case Thumbnail::Scale::angle:
      break;
  }
  return part;
}

}  // namespace

Thumbnail::Thumbnail(std::int64_t rows, std::int64_t columns, std::int64_t picture_side, Pick pick)
    : pick_(pick) {
  while ((std::max(rows, columns) >> shift_) > picture_side) ++shift_;
  width_ = std::max<std::int64_t>(1, columns >> shift_);  // all are powers of two
  height_ = std::max<std::int64_t>(1, rows >> shift_);
  values_.assign(static_cast<std::size_t>(width_ * height_), missing);
}

Status Thumbnail::write(const std::filesystem::path& path, Scale scale) const {
  const float greatest = *std::max_element(values_.begin(), values_.end());
  TRY_ASSIGN(kit::PngWriter picture, kit::PngWriter::create(path, width_, height_));
  for (std::int64_t row = 0; row < height_; ++row) {
    Bytes rgb;
    for (std::int64_t column = 0; column < width_; ++column) {
      const float value = values_[static_cast<std::size_t>(row * width_ + column)];
      if (value == missing) {
        for (const unsigned char part : missing_colour) rgb.push_back(static_cast<char>(part));
        continue;
      }
      const double level = std::clamp(grey(value, greatest, scale), 0.0, 1.0);
      rgb.append(3, static_cast<char>(static_cast<unsigned char>(std::floor(level * 255 + 0.5))));
    }
    TRY(picture.write_row(rgb));
  }
  return picture.finish();
}

}  // namespace gleaner::hologram
