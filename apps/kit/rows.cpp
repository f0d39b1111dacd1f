#include "apps/kit/rows.h"

#include "apps/kit/png.h"

namespace gleaner::kit {
namespace {

constexpr char missing_grey = 0x28;

}  // namespace

Status draw_rows(ItemSource& items, Output& output, std::int64_t width, std::int64_t height,
                 const RowColours& colours) {
  TRY_ASSIGN(PngWriter picture, PngWriter::create(output.directory() / "image.png", width, height));
  const Bytes missing(static_cast<std::size_t>(3 * width), missing_grey);
  std::int64_t row = 0;
  for (;;) {
    TRY_ASSIGN(const std::optional<Item> item, items.next());
    for (; row < (item ? item->index : height); ++row) TRY(picture.write_row(missing));
    if (!item) break;
    TRY_ASSIGN(const Bytes rgb, colours(*item));
    TRY(picture.write_row(rgb));
    ++row;
    output.progress(items.fraction());
  }
  TRY(picture.finish());
  output.result("image.png", "image/png");
  return {};
}

}  // namespace gleaner::kit
