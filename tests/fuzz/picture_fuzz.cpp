// Items are painted into a picture of bounded size, whatever the declaration and the kernel's bytes say.
#include "client/view/picture.h"
#include "tests/fuzz/fuzz.h"

using namespace gleaner;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text = fuzz::text_of(data, size);
  const auto take = [&text]() -> std::int64_t {
    if (text.empty()) return 0;
    const auto byte = static_cast<unsigned char>(text.front());
    text.remove_prefix(1);
    return byte;
  };
  view::PictureSpec spec;
  spec.kind = static_cast<view::PictureKind>(take() % 6);
  spec.value = static_cast<view::Value>(take() % 8);
  spec.rows = take() << take() % 48;
  spec.columns = take() << take() % 48;
  spec.skip = take();
  spec.inside = take();
  spec.lines = take();
  spec.tile_part = take();
  spec.tile_min = take() - 1;
  spec.tile_max = take() << take() % 48;
  view::Picture picture(spec);
  while (!text.empty()) {
    const std::int64_t index = take() - 8;
    const auto length = static_cast<std::size_t>(take());
    picture.add(index, text.substr(0, length));
    text.remove_prefix(std::min(length, text.size()));
    CHECK_TRUE(picture.width() <= view::picture_width_max && picture.height() <= view::picture_height_max);
    CHECK_TRUE(picture.pixels().size() == static_cast<std::size_t>(3 * picture.width() * picture.height()));
    const view::Band changes = picture.take_changes();
    CHECK_TRUE(changes.empty() || (changes.begin >= 0 && changes.end <= picture.height()));
  }
  return 0;
}
