// Pictures whose rows are the items of a stage: what managers of such applications have in common.
#pragma once

#include <cstdint>
#include <functional>

#include "apps/kit/manager.h"

namespace gleaner::kit {

// The red, green and blue of a row, 3 * width bytes, from its item.
using RowColours = std::function<Result<Bytes>(const Item& row)>;

// Writes image.png, the first item at the top, and tells of it. Rows that are missing are dark grey. Memory
// is one row. Errors: io, and those of `colours`.
[[nodiscard]] Status draw_rows(ItemSource& items, Output& output, std::int64_t width, std::int64_t height,
                               const RowColours& colours);

// The same for moving pictures: the items are the rows of one frame after the other.
struct Frames {
  std::int64_t width = 0, height = 0;
  std::int64_t first = 0;  // the number of the first one, for names
  std::int64_t frame_milliseconds = 40;
};
// Writes frame-NNNNN.png for each frame of which there is a row, and animation.png (animated PNG) of them
// all. Memory is one row. Errors: io, and those of `colours`.
[[nodiscard]] Status draw_frames(ItemSource& items, Output& output, const Frames& frames,
                                 const RowColours& colours);

}  // namespace gleaner::kit
