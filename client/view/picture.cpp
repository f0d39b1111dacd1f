#include "client/view/picture.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include "client/view/cells.h"

namespace gleaner::view {
namespace {

constexpr int patch = 20;        // pixels of a side, frame included
constexpr int patch_cells = 5;   // its pattern is symmetric
constexpr int patch_pixels = 3;  // of a cell
constexpr int quilt_columns = picture_width_max / patch;
constexpr int quilt_rows = 22;
constexpr int tour_side = 600;
constexpr int cell = 20;  // pixels of a side, its frame included
constexpr int cell_columns = picture_width_max / cell;
constexpr int cell_rows = picture_height_max / cell;
constexpr std::int64_t tiled_side_max = 1 << 17;
constexpr float recolour_growth = 1.1F;  // of the largest value
constexpr std::int64_t tour_length_offset = 8;

int shown(std::int64_t size, int most) {
  return static_cast<int>(std::clamp<std::int64_t>(size, 1, most));
}

// One number a value, which can be compared with others.
bool is_number(Value value) {
  return value != Value::rgb8 && value != Value::escape;
}

}  // namespace

Picture::Picture(const PictureSpec& spec) : spec_(spec) {
  spec_.rows = std::max<std::int64_t>(spec_.rows, 0);
  spec_.skip = std::max<std::int64_t>(spec_.skip, 0);
  spec_.columns = std::max<std::int64_t>(spec_.columns, 0);
  spec_.tile_min = std::clamp<std::int64_t>(spec_.tile_min, 1, tiled_side_max);
  spec_.tile_max = std::clamp(spec_.tile_max, spec_.tile_min, tiled_side_max);
  const bool declared = (spec_.kind == PictureKind::rows && spec_.rows > 0) ||
                        (spec_.kind == PictureKind::heat && spec_.columns > 0) ||
                        (spec_.kind == PictureKind::tiles && spec_.tile_part > 0 && is_number(spec_.value)) ||
                        (spec_.kind == PictureKind::cells && is_number(spec_.value)) ||
                        spec_.kind == PictureKind::tour;
  if (!declared) spec_.kind = PictureKind::quilt;
}

void Picture::set_size(int width, int height) {
  width_ = width;
  height_ = height;
  pixels_.resize(static_cast<std::size_t>(3 * width * height));
  for (std::size_t i = 0; i < pixels_.size(); ++i) pixels_[i] = static_cast<char>(blank[i % 3]);
  changes_ = {0, height};
}

void Picture::touch(int begin, int end) {
  changes_ = changes_.empty() ? Band{begin, end}
                              : Band{std::min(changes_.begin, begin), std::max(changes_.end, end)};
}

Band Picture::take_changes() {
  const Band changes = changes_;
  changes_ = {};
  return changes;
}

void Picture::put(int x, int y, unsigned char red, unsigned char green, unsigned char blue) {
  char* const pixel = pixels_.data() + 3 * (static_cast<std::ptrdiff_t>(y) * width_ + x);
  pixel[0] = static_cast<char>(red);
  pixel[1] = static_cast<char>(green);
  pixel[2] = static_cast<char>(blue);
}

void Picture::add(std::int64_t index, std::string_view item) {
  ++items_;
  bool fits = false;
  if (spec_.kind == PictureKind::rows) fits = add_row(index, item);
  if (spec_.kind == PictureKind::heat) fits = add_heat(item);
  if (spec_.kind == PictureKind::tour) fits = add_tour(item);
  if (spec_.kind == PictureKind::tiles) fits = add_tiles(index, item);
  if (spec_.kind == PictureKind::cells) fits = add_cell(index, item);
  if (fits) return;
  if (spec_.kind != PictureKind::quilt) {
    if (width_ > 0) return;  // one that does not fit must not spoil the others
    spec_.kind = PictureKind::quilt;
  }
  add_patch(item);
}

bool Picture::add_row(std::int64_t index, std::string_view item) {
  if (index < 0 || index >= spec_.rows || static_cast<std::int64_t>(item.size()) <= spec_.skip) return false;
  item.remove_prefix(static_cast<std::size_t>(spec_.skip));
  const auto count = static_cast<std::int64_t>(item.size()) / bytes_of(spec_.value);
  if (count == 0 || static_cast<std::int64_t>(item.size()) % bytes_of(spec_.value) != 0) return false;
  if (width_ == 0) {
    // The whole picture, as large as fits, in its proportions.
    const double scale = std::min({1.0, picture_width_max / static_cast<double>(count),
                                   picture_height_max / static_cast<double>(spec_.rows)});
    set_size(shown(std::llround(static_cast<double>(count) * scale), picture_width_max),
             shown(std::llround(static_cast<double>(spec_.rows) * scale), picture_height_max));
    line_values_ = count;
  }
  if (count != line_values_) return false;
  const auto row = static_cast<int>(index * height_ / spec_.rows);
  // Where the picture is shown larger than it is, never; where smaller, the last of several rows stays.
  paint_row(row, item, count);
  return true;
}

void Picture::paint_row(int row, std::string_view item, std::int64_t count) {
  const bool numbers = is_number(spec_.value) && spec_.value != Value::grey8;
  if (numbers && values_.empty()) keep_values(-1);
  for (int x = 0; x < width_; ++x) {
    const std::int64_t place = x * count / width_;
    const auto* const at =
        reinterpret_cast<const unsigned char*>(item.data()) + place * bytes_of(spec_.value);
    if (spec_.value == Value::rgb8) {
      put(x, row, at[0], at[1], at[2]);
    } else if (spec_.value == Value::grey8) {
      put(x, row, at[0], at[0], at[0]);
    } else if (spec_.value == Value::escape) {
      std::uint32_t steps = 0;
      float fraction = 0;
      std::memcpy(&steps, at, sizeof steps);
      std::memcpy(&fraction, at + sizeof steps, sizeof fraction);
      const Rgb colour = spec_.inside > 0 && steps >= spec_.inside
                             ? Rgb{0, 0, 0}
                             : escape_colour(static_cast<double>(steps) + static_cast<double>(fraction));
      put(x, row, colour[0], colour[1], colour[2]);
    } else {
      const float number = number_at(item, spec_.value, place);
      values_[static_cast<std::size_t>(row) * static_cast<std::size_t>(width_) +
              static_cast<std::size_t>(x)] = number;
      largest_ = std::max(largest_, number);
    }
  }
  if (numbers) return paint_values(row, row + 1);
  touch(row, row + 1);
}

void Picture::keep_values(float start) {
  values_.assign(static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_), start);
}

// Colours are relative to the largest value: when that has grown, all are chosen anew.
void Picture::paint_values(int begin, int end) {
  if (largest_ > painted_for_ * recolour_growth || (begin == 0 && end == height_)) {
    painted_for_ = largest_;
    begin = 0;
    end = height_;
  }
  for (int y = begin; y < end; ++y)
    for (int x = 0; x < width_; ++x) {
      const float value = values_[static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) +
                                  static_cast<std::size_t>(x)];
      if (value < 0) continue;
      // The square root shows faint things without hiding the strong ones.
      const Rgb colour = heat_colour(painted_for_ > 0 ? std::sqrt(value / painted_for_) : 0);
      put(x, y, colour[0], colour[1], colour[2]);
    }
  touch(begin, end);
}

bool Picture::add_heat(std::string_view item) {
  if (static_cast<std::int64_t>(item.size()) <= spec_.skip || !is_number(spec_.value)) return false;
  item.remove_prefix(static_cast<std::size_t>(spec_.skip));
  const auto count = static_cast<std::int64_t>(item.size()) / bytes_of(spec_.value);
  if (count < spec_.columns) return false;
  std::int64_t lines = count / spec_.columns;
  if (spec_.lines > 0) {
    if (spec_.lines > lines) return false;
    lines = spec_.lines;
  }
  if (width_ == 0) {
    set_size(shown(spec_.columns, picture_width_max), shown(lines, picture_height_max));
    keep_values(0);
    line_values_ = count;
  }
  if (count != line_values_) return false;
  for (std::int64_t line = 0; line < lines; ++line)
    for (std::int64_t column = 0; column < spec_.columns; ++column) {
      const auto at =
          static_cast<std::size_t>((line * height_ / lines) * width_ + column * width_ / spec_.columns);
      values_[at] += number_at(item, spec_.value, line * spec_.columns + column);
      largest_ = std::max(largest_, values_[at]);
    }
  paint_values(0, height_);
  return true;
}

std::int64_t Picture::tile_side(std::int64_t side) const {
  return std::clamp(side / spec_.tile_part, spec_.tile_min, spec_.tile_max);
}

// Of the many values that fall into a pixel the largest is shown: bright points stay visible.
bool Picture::add_tiles(std::int64_t index, std::string_view item) {
  if (static_cast<std::int64_t>(item.size()) <= spec_.skip) return false;
  item.remove_prefix(static_cast<std::size_t>(spec_.skip));
  const auto count = static_cast<std::int64_t>(item.size()) / bytes_of(spec_.value);
  if (width_ == 0) {
    if (spec_.rows == 0 && spec_.columns == 0) {
      std::int64_t side = 1;
      while (side < tiled_side_max && side * tile_side(side) < count) side *= 2;
      spec_.rows = spec_.columns = side;
    }
    const bool fits = spec_.rows > 0 && spec_.columns > 0 && spec_.columns <= tiled_side_max &&
                      spec_.rows <= tiled_side_max && count == spec_.columns * tile_side(spec_.rows);
    if (!fits) return false;
    const double scale = std::min({1.0, picture_width_max / static_cast<double>(spec_.columns),
                                   picture_height_max / static_cast<double>(spec_.rows)});
    set_size(shown(std::llround(static_cast<double>(spec_.columns) * scale), picture_width_max),
             shown(std::llround(static_cast<double>(spec_.rows) * scale), picture_height_max));
    keep_values(-1);
    line_values_ = count;
  }
  const std::int64_t high = tile_side(spec_.rows);
  const std::int64_t wide = tile_side(spec_.columns);
  if (count != line_values_ || index < 0 || index >= spec_.rows / high) return false;
  for (std::int64_t place = 0; place < count; ++place) {
    const std::int64_t tile = place / (high * wide);
    const std::int64_t row = index * high + place / wide % high;
    const std::int64_t column = tile * wide + place % wide;
    if (column >= spec_.columns) break;  // columns that are no multiple of the tiles
    float& shown_here = values_[static_cast<std::size_t>((row * height_ / spec_.rows) * width_ +
                                                         column * width_ / spec_.columns)];
    shown_here = std::max(shown_here, number_at(item, spec_.value, place));
    largest_ = std::max(largest_, shown_here);
  }
  paint_values(static_cast<int>(index * high * height_ / spec_.rows),
               static_cast<int>(((index + 1) * high - 1) * height_ / spec_.rows) + 1);
  return true;
}

bool Picture::add_cell(std::int64_t index, std::string_view item) {
  if (index < 0 || static_cast<std::int64_t>(item.size()) < spec_.skip + bytes_of(spec_.value)) return false;
  if (width_ == 0) {
    set_size(cell_columns * cell, cell_rows * cell);
    keep_values(-1);
  }
  const float number = number_at(item.substr(static_cast<std::size_t>(spec_.skip)), spec_.value, 0);
  largest_ = std::max(largest_, number);
  const auto place = static_cast<int>(index % (cell_columns * cell_rows));
  const int left = place % cell_columns * cell;
  const int top = place / cell_columns * cell;
  for (int y = top; y < top + cell - 2; ++y)
    for (int x = left; x < left + cell - 2; ++x) values_[static_cast<std::size_t>(y * width_ + x)] = number;
  paint_values(top, top + cell);
  return true;
}

// The best tour found here as chords of a circle on which the cities stand in order.
bool Picture::add_tour(std::string_view item) {
  if (spec_.skip < tour_length_offset || static_cast<std::int64_t>(item.size()) < spec_.skip) return false;
  std::int64_t length = 0;
  std::memcpy(&length, item.data() + spec_.skip - tour_length_offset, sizeof length);
  const std::string_view cities = item.substr(static_cast<std::size_t>(spec_.skip));
  if (width_ == 0) set_size(tour_side, tour_side);
  if (cities.size() < 3 || length < 0 || (best_ >= 0 && length >= best_)) return true;
  // What was best before stays as a shadow.
  for (char& byte : pixels_) byte = static_cast<char>(static_cast<unsigned char>(byte) / 2 + blank[1] / 2);
  best_ = length;
  const double radius = 0.46 * tour_side;
  const auto place = [&](char city) {
    const double angle =
        2 * std::numbers::pi * static_cast<unsigned char>(city) / static_cast<double>(cities.size());
    return std::pair{tour_side / 2.0 + radius * std::sin(angle), tour_side / 2.0 - radius * std::cos(angle)};
  };
  for (std::size_t i = 0; i < cities.size(); ++i) {
    const auto [from_x, from_y] = place(cities[i]);
    const auto [to_x, to_y] = place(cities[(i + 1) % cities.size()]);
    const Rgb colour = heat_colour(0.45F + 0.5F * static_cast<float>(i) / static_cast<float>(cities.size()));
    const int steps = 1 + static_cast<int>(std::max(std::abs(to_x - from_x), std::abs(to_y - from_y)) * 2);
    for (int step = 0; step <= steps; ++step) {
      const double part = static_cast<double>(step) / steps;
      const auto x = static_cast<int>(from_x + (to_x - from_x) * part);
      const auto y = static_cast<int>(from_y + (to_y - from_y) * part);
      for (int thick = 0; thick < 4; ++thick)
        put(std::clamp(x + thick % 2, 0, width_ - 1), std::clamp(y + thick / 2, 0, height_ - 1), colour[0],
            colour[1], colour[2]);
    }
  }
  touch(0, height_);
  return true;
}

void Picture::add_patch(std::string_view item) {
  if (width_ == 0) set_size(quilt_columns * patch, quilt_rows * patch);
  const auto number = static_cast<int>((items_ - 1) % (quilt_columns * quilt_rows));
  const int left = number % quilt_columns * patch;
  const int top = number / quilt_columns * patch;
  const std::uint64_t pattern = pattern_of(item);
  const Rgb colour = quilt_colour(pattern);
  const Rgb ground = quilt_colour(pattern >> 8);
  for (int y = 0; y < patch - 2; ++y)
    for (int x = 0; x < patch - 2; ++x) {
      const int row = std::min((y - 1) / patch_pixels, patch_cells - 1);
      const int column = std::min((x - 1) / patch_pixels, patch_cells - 1);
      const int mirrored = std::min(column, patch_cells - 1 - column);
      const bool frame = x < 1 || y < 1 || x > patch_cells * patch_pixels || y > patch_cells * patch_pixels;
      const bool set = !frame && (pattern >> (16 + 3 * row + mirrored) & 1) != 0;
      if (set)
        put(left + x, top + y, colour[0], colour[1], colour[2]);
      else
        put(left + x, top + y, ground[0] / 4, ground[1] / 4, ground[2] / 4);
    }
  touch(top, top + patch);
}

}  // namespace gleaner::view
