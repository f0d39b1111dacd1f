// Turning rows of tiles into columns of tiles on the disk: the server's part between two stages. Memory is a
// bounded batch of items, whatever the plane's size. Errors: io, invalid (items that are not the stage's).
#pragma once

#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

#include "apps/hologram/layout.h"
#include "apps/kit/manager.h"

namespace gleaner::hologram {

// What is done with an item, which has its stage's size, and where it belongs.
using TakeItem = std::function<Status(Place place, kit::Item item)>;
// All items that are there, in order.
[[nodiscard]] Status for_each_item(const Layout& layout, int stage, kit::ItemSource& items,
                                   const TakeItem& take);

// Hears each item before it is cut.
using SeeItem = std::function<void(std::int64_t item, std::string_view bytes)>;

// Cuts the items of `stage` into tiles, and makes of them the files that the items of the stage after it
// have as inputs, in output.directory(), each with `end` behind it (stages.h). Blocks that are no items are
// zero. On the disk when it returns.
// `part`: of the whole work that this is, for the progress.
[[nodiscard]] Status write_blocks(const Layout& layout, int stage, std::string_view end,
                                  kit::ItemSource& items, kit::Output& output, double part,
                                  const SeeItem& see);

// The inputs of a stage, as its plan has them. `directory`: where write_blocks() put them.
[[nodiscard]] std::vector<kit::StageInput> block_inputs(const Layout& layout, int stage,
                                                        const std::filesystem::path& directory);

void remove_blocks(const Layout& layout, int stage, const std::filesystem::path& directory);

// A run of pixels of an item: `count` of them at `bytes`, from (row, column) of the plane to the right.
struct Run {
  std::int64_t row, column, count;
  const char* bytes;
};
// What blocks of tiles are: of rows or of columns, and of which pixels.
struct Form {
  bool columns = false;
  std::int64_t pixel_bytes = 8;
};
[[nodiscard]] inline Form form_of(const Layout& layout, int stage) {
  return {Layout::of_columns(stage), layout.pixel_bytes(stage)};
}
// All runs of a block's bytes. REQUIRES: they are all of it.
template <typename Take>
void for_each_run(const Layout& layout, Form form, std::int64_t block, std::string_view bytes,
                  const Take& take) {
  const std::int64_t width = layout.block_columns();
  const char* at = bytes.data();
  for (std::int64_t tile = 0; tile < (form.columns ? layout.row_blocks() : layout.column_blocks()); ++tile) {
    const std::int64_t row_block = form.columns ? tile : block;
    const std::int64_t column_block = form.columns ? block : tile;
    for (std::int64_t row = 0; row < layout.block_rows(); ++row, at += width * form.pixel_bytes)
      take(Run{row_block * layout.block_rows() + row, column_block * width, width, at});
  }
}

}  // namespace gleaner::hologram
