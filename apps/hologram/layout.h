// How a reconstruction is cut into items. The plane of rows x columns is computed once for each view; an item
// is a block of rows (stage 0, and stage 2 of the convolution method) or of columns (stage 1) of a view.
// Items of row stages and of column stages cross in tiles: an item's bytes are its tiles one after another,
// each row by row, so that what the next stage's items need is cut out in pieces and never turned over.
//
//   stage 0: rows times the window, transformed. Blocks that are zero by their place are not items.
//   stage 1: columns transformed; convolution: times the transfer function, and transformed back; direct:
//   done stage 2 (convolution): rows transformed back
#pragma once

#include <cstdint>
#include <vector>

#include "apps/hologram/settings.h"
#include "shared/base/range_set.h"

namespace gleaner::hologram {

struct View {
  Aperture aperture;
  Range rows;     // of the plane that can differ from zero before the transform
  Range columns;  // likewise
  Range blocks;   // of rows that meet `rows`
};

// One item: which view, and which block of rows or columns.
struct Place {
  std::size_t view = 0;
  std::int64_t block = 0;
};

class Layout {
 public:
  // The settings' plane around a hologram of these sizes. invalid if the two do not fit.
  [[nodiscard]] static Result<Layout> make(const Settings& settings, std::int64_t image_rows,
                                           std::int64_t image_columns);

  [[nodiscard]] std::int64_t rows() const { return rows_; }  // of the plane
  [[nodiscard]] std::int64_t columns() const { return columns_; }
  [[nodiscard]] std::int64_t block_rows() const { return block_rows_; }
  [[nodiscard]] std::int64_t block_columns() const { return block_columns_; }
  [[nodiscard]] std::int64_t row_blocks() const { return rows_ / block_rows_; }
  [[nodiscard]] std::int64_t column_blocks() const { return columns_ / block_columns_; }
  [[nodiscard]] std::int64_t tile_pixels() const { return block_rows_ * block_columns_; }
  [[nodiscard]] const std::vector<View>& views() const { return views_; }
  [[nodiscard]] int stages() const { return stages_; }

  [[nodiscard]] static bool of_columns(int stage) { return stage == 1; }
  [[nodiscard]] std::int64_t items(int stage) const;
  // REQUIRES: 0 <= item < items(stage).
  [[nodiscard]] Place place(int stage, std::int64_t item) const;
  // The item of stage >= 1 at a place.
  [[nodiscard]] std::int64_t item(int stage, Place place) const;
  // Of a block of rows of stage 0, those that the window is in.
  [[nodiscard]] Range window_lines(Place place) const;
  // Blocks across an item, which are its tiles.
  [[nodiscard]] std::int64_t tiles(int stage) const {
    return of_columns(stage) ? row_blocks() : column_blocks();
  }
  [[nodiscard]] bool last(int stage) const { return stage + 1 == stages_; }
  // Of an item's bytes: complex numbers, but for amplitudes and intensities at last, which are the intensity.
  [[nodiscard]] std::int64_t pixel_bytes(int stage) const { return last(stage) ? last_pixel_bytes_ : 8; }
  [[nodiscard]] std::int64_t item_bytes(int stage) const {
    return tiles(stage) * tile_pixels() * pixel_bytes(stage);
  }
  // Of the input that an item of stage >= 1 has.
  [[nodiscard]] std::int64_t input_bytes(int stage) const { return tiles(stage) * tile_pixels() * 8; }

 private:
  std::int64_t rows_ = 0, columns_ = 0;
  std::int64_t block_rows_ = 0, block_columns_ = 0;
  std::int64_t last_pixel_bytes_ = 0;
  int stages_ = 0;
  std::vector<View> views_;
};

}  // namespace gleaner::hologram
