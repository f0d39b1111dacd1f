// Hologram files: whatever is accepted has all its rows inside the file. And the head of its parts.
#include <cstring>

#include "apps/hologram/image_file.h"
#include "apps/hologram/parts.h"
#include "tests/fuzz/fuzz.h"

using namespace gleaner;
using namespace gleaner::hologram;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto total = static_cast<std::int64_t>(size);
  const ReadAt read = [&](std::int64_t offset, char* to, std::int64_t count) -> Status {
    CHECK_TRUE(offset >= 0 && count >= 0 && offset + count <= total);
    if (count > 0) std::memcpy(to, data + offset, static_cast<std::size_t>(count));
    return {};
  };
  if (const auto parts = decode_parts(fuzz::text_of(data, size)); parts.ok()) {
    const Bytes again = encode(*parts);
    CHECK_TRUE(again.size() == size && parts->image.row_bytes() > 0 && parts->rows > 0);
  }
  const auto layout = find_pixels(Settings{}, total, read);
  if (!layout.ok()) return 0;
  for (std::int64_t row = 0; row < layout->rows; ++row) {
    const std::int64_t offset = layout->row_offset(row);
    CHECK_TRUE(offset >= 0 && offset + layout->row_bytes() <= total);
  }
  return 0;
}
