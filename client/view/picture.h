// A small picture of what this computer finished, painted item by item as the application's manifest declares
// ([view], apps/CONTRACT.md). Items come from kernels: nothing of their length or content is trusted, and
// what does not fit the declaration is painted as a patch of the quilt instead. Memory is bounded by the
// constants below. Pure; not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/encoding.h"

namespace gleaner::view {

inline constexpr int picture_width_max = 800;  // larger pictures are shown smaller
inline constexpr int picture_height_max = 600;

enum class PictureKind : int {
  quilt = 0,  // a patch for each item, its pattern and colours taken from the item's bytes
  rows = 1,   // item i is row i of a picture
  heat = 2,   // items are arrays of numbers, which are added: `columns` in a line
  tour = 3,   // a length to be small (int64 before `skip`), then a tour, a byte a city: the best so far
  tiles = 4,  // item i is a band of a picture: square tiles, one after the other, each line by line
  cells = 5,  // item i is cell i of a chequerboard, coloured by one number
};

enum class Value : int {  // little-endian
  rgb8 = 0,
  grey8 = 1,
  uint16 = 2,
  uint32 = 3,
  uint64 = 4,
  float32 = 5,
  float64 = 6,
  escape = 7,  // count (uint32) and fraction (float32) of an escape-time picture; the largest count is inside
};
[[nodiscard]] int bytes_of(Value value);

struct PictureSpec {
  PictureKind kind = PictureKind::quilt;
  Value value = Value::rgb8;
  std::int64_t rows = 0;     // rows: how many the whole picture has; tiles: 0 for a square of unknown size
  std::int64_t columns = 0;  // heat, tiles
  std::int64_t lines = 0;    // heat: how many of an item's; 0: all
  // tiles: a tile's side is 1/tile_part of the picture's, but no less and no more than these
  std::int64_t tile_part = 0, tile_min = 1, tile_max = 1;
  std::int64_t skip = 0;    // bytes of an item before the values
  std::int64_t inside = 0;  // escape: this count never escapes
  friend bool operator==(const PictureSpec&, const PictureSpec&) = default;
};

struct Band {  // rows begin ... end - 1
  int begin = 0;
  int end = 0;
  [[nodiscard]] bool empty() const { return begin >= end; }
};

class Picture {
 public:
  explicit Picture(const PictureSpec& spec);

  void add(std::int64_t index, std::string_view item);

  // Zero until the first item says how wide it is.
  [[nodiscard]] int width() const { return width_; }
  [[nodiscard]] int height() const { return height_; }
  [[nodiscard]] std::int64_t items() const { return items_; }
  // Red, green and blue, 3 * width() * height() bytes; what is not painted is `blank`.
  [[nodiscard]] const Bytes& pixels() const { return pixels_; }
  // What changed since it was asked last.
  [[nodiscard]] Band take_changes();

  static constexpr unsigned char blank[3] = {0x12, 0x15, 0x1d};

 private:
  void set_size(int width, int height);
  void touch(int begin, int end);
  void put(int x, int y, unsigned char red, unsigned char green, unsigned char blue);
  [[nodiscard]] bool add_row(std::int64_t index, std::string_view item);
  [[nodiscard]] bool add_heat(std::string_view item);
  [[nodiscard]] bool add_tour(std::string_view item);
  [[nodiscard]] bool add_tiles(std::int64_t index, std::string_view item);
  [[nodiscard]] bool add_cell(std::int64_t index, std::string_view item);
  [[nodiscard]] std::int64_t tile_side(std::int64_t side) const;
  void add_patch(std::string_view item);
  void paint_row(int row, std::string_view item, std::int64_t count);
  void keep_values(float start);  // one for each pixel
  void paint_values(int begin, int end);

  PictureSpec spec_;
  int width_ = 0;
  int height_ = 0;
  Bytes pixels_;
  std::vector<float> values_;  // of pixels, where colours depend on the largest
  float largest_ = 0;
  float painted_for_ = 0;  // the largest when the colours were chosen
  std::int64_t line_values_ = 0;
  std::int64_t items_ = 0;
  std::int64_t best_ = -1;
  Band changes_;
};

}  // namespace gleaner::view
