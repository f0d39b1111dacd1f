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

}  // namespace gleaner::kit
