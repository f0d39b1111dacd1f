// A segment's raw bytes (apps/CONTRACT.md): for each item of a range, in order, a 4-byte little-endian length
// and that many bytes.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "shared/base/encoding.h"
#include "shared/base/result.h"

namespace gleaner::protocol {

// Appends one item. REQUIRES: item.size() <= limits::item_bytes_max.
void append_item(Bytes& segment, std::string_view item);
// The most bytes that a segment of so many items can have; no more than limits::segment_bytes_max.
[[nodiscard]] std::int64_t segment_bytes_bound(std::int64_t items, std::int64_t item_bytes_max);
// Views into `segment`, one for each of exactly `items` items, or why the bytes are not that.
[[nodiscard]] Result<std::vector<std::string_view>> split_segment(std::string_view segment,
                                                                  std::int64_t items,
                                                                  std::int64_t item_bytes_max);

}  // namespace gleaner::protocol
