#include "apps/kit/rows.h"

#include <cstdio>
#include <vector>

#include "apps/kit/apng.h"
#include "apps/kit/png.h"
#include "shared/base/paths.h"

namespace gleaner::kit {
namespace {

constexpr char missing_grey = 0x28;

// One picture that takes its rows as they come, from the top.
class Picture {
 public:
  [[nodiscard]] static Result<Picture> create(const std::filesystem::path& path, std::int64_t width,
                                              std::int64_t height) {
    TRY_ASSIGN(PngWriter writer, PngWriter::create(path, width, height));
    return Picture(std::move(writer), width, height);
  }
  [[nodiscard]] Status put(std::int64_t row, std::string_view rgb) {
    TRY(leave_out(row));
    ++row_;
    return writer_.write_row(rgb);
  }
  [[nodiscard]] Status finish() {
    TRY(leave_out(height_));
    return writer_.finish();
  }

 private:
  Picture(PngWriter writer, std::int64_t width, std::int64_t height)
      : writer_(std::move(writer)),
        height_(height),
        missing_(static_cast<std::size_t>(3 * width), missing_grey) {}
  // The rows before `end` that did not come.
  [[nodiscard]] Status leave_out(std::int64_t end) {
    for (; row_ < end; ++row_) TRY(writer_.write_row(missing_));
    return {};
  }

  PngWriter writer_;
  std::int64_t height_;
  std::int64_t row_ = 0;
  Bytes missing_;
};

std::string frame_name(std::int64_t number) {
  char name[40];
  std::snprintf(name, sizeof name, "frame-%05lld.png", static_cast<long long>(number));
  return name;
}

}  // namespace

Status draw_rows(ItemSource& items, Output& output, std::int64_t width, std::int64_t height,
                 const RowColours& colours) {
  TRY_ASSIGN(Picture picture, Picture::create(output.directory() / "image.png", width, height));
  for (;;) {
    TRY_ASSIGN(const std::optional<Item> item, items.next());
    if (!item) break;
    TRY_ASSIGN(const Bytes rgb, colours(*item));
    TRY(picture.put(item->index, rgb));
    output.progress(items.fraction());
  }
  TRY(picture.finish());
  output.result("image.png", "image/png");
  return {};
}

Status draw_frames(ItemSource& items, Output& output, const Frames& frames, const RowColours& colours) {
  std::vector<std::string> names;
  std::optional<Picture> picture;
  std::int64_t open = -1;
  for (;;) {
    TRY_ASSIGN(const std::optional<Item> item, items.next());
    const std::int64_t frame = item ? item->index / frames.height : -1;
    if (picture && frame != open) {
      TRY(picture->finish());
      output.result(names.back(), "image/png");
      picture.reset();
    }
    if (!item) break;
    if (!picture) {
      names.push_back(frame_name(frames.first + frame));
      TRY_ASSIGN(picture,
                 Picture::create(output.directory() / utf8_path(names.back()), frames.width, frames.height));
      open = frame;
    }
    TRY_ASSIGN(const Bytes rgb, colours(*item));
    TRY(picture->put(item->index % frames.height, rgb));
    output.progress(items.fraction());
  }
  if (names.empty()) return {};
  TRY_ASSIGN(ApngWriter animation,
             ApngWriter::create(output.directory() / "animation.png", static_cast<std::int64_t>(names.size()),
                                frames.frame_milliseconds));
  for (const std::string& name : names) TRY(animation.add(output.directory() / utf8_path(name)));
  TRY(animation.finish());
  output.result("animation.png", "image/apng");
  return {};
}

}  // namespace gleaner::kit
