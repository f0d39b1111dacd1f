// What viewers read: any head is refused or within its bounds, and what was read can be written and read
// again.
#include <zlib.h>

#include "client/view/view_file.h"
#include "tests/fuzz/fuzz.h"

using namespace gleaner;

namespace {

// The same bytes with a checksum that holds, so that what is behind it is reached.
Bytes with_checksum(std::string_view text) {
  Bytes head = "GLNVIEW1";
  const auto sum = static_cast<std::uint32_t>(
      ::crc32(0, reinterpret_cast<const Bytef*>(text.data()), static_cast<uInt>(text.size())));
  for (const std::uint32_t number : {sum, static_cast<std::uint32_t>(text.size())})
    for (int shift = 0; shift < 32; shift += 8) head.push_back(static_cast<char>(number >> shift & 0xff));
  return head.append(text);
}

void check(std::string_view bytes) {
  const auto view = view::parse_head(bytes);
  if (!view.ok()) return;
  for (const std::string* text :
       {&view->project, &view->host, &view->mode, &view->reason, &view->picture.problem})
    CHECK_TRUE(text->size() <= view::text_bytes_max && view::clean_text(*text) == *text);
  CHECK_TRUE(view->cores.size() <= view::cores_shown_max);
  CHECK_TRUE(view->picture.width >= 0 && view->picture.width <= view::picture_width_max);
  CHECK_TRUE(view->picture.height >= 0 && view->picture.height <= view::picture_height_max);
  const auto again = view::parse_head(view::encode_head(*view));
  CHECK_TRUE(again.ok() && again->picture == view->picture && again->reason == view->reason);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  check(text);
  check(with_checksum(text));
  return 0;
}
