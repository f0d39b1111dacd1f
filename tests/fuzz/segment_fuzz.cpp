// Segments: the first byte is the number of items; what splits is exactly what joins again.
#include "shared/protocol/segment.h"
#include "tests/fuzz/fuzz.h"

using namespace gleaner;
using namespace gleaner::protocol;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view segment = fuzz::text_of(data + 1, size - 1);
  constexpr std::int64_t item_bytes_max = 1000;
  for (const std::int64_t items : {std::int64_t{data[0]}, std::int64_t{data[0]} << 45}) {
    const auto views = split_segment(segment, items, item_bytes_max);
    if (!views.ok()) continue;
    CHECK_TRUE(static_cast<std::int64_t>(views->size()) == items);
    Bytes again;
    for (const std::string_view item : *views) {
      CHECK_TRUE(item.size() <= static_cast<std::size_t>(item_bytes_max));
      append_item(again, item);
    }
    CHECK_TRUE(again == segment);
  }
  return 0;
}
