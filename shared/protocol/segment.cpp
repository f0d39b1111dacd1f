#include "shared/protocol/segment.h"

#include <algorithm>

#include "shared/base/check.h"
#include "shared/base/limits.h"

namespace gleaner::protocol {
namespace {

constexpr std::size_t length_bytes = 4;

std::int64_t read_length(std::string_view bytes) {
  std::int64_t length = 0;
  for (std::size_t i = length_bytes; i > 0; --i)
    length = length << 8 | static_cast<std::uint8_t>(bytes[i - 1]);
  return length;
}

}  // namespace

void append_item(Bytes& segment, std::string_view item) {
  CHECK_TRUE(item.size() <= static_cast<std::size_t>(limits::item_bytes_max));
  for (std::size_t i = 0; i < length_bytes; ++i)
    segment += static_cast<char>(static_cast<std::uint8_t>(item.size() >> (8 * i)));
  segment += item;
}

std::int64_t segment_bytes_bound(std::int64_t items, std::int64_t item_bytes_max) {
  const auto each = static_cast<std::int64_t>(length_bytes) +
                    std::clamp<std::int64_t>(item_bytes_max, 0, limits::item_bytes_max);
  return std::max<std::int64_t>(items, 0) > limits::segment_bytes_max / each
             ? limits::segment_bytes_max
             : std::max<std::int64_t>(items, 0) * each;
}

Result<std::vector<std::string_view>> split_segment(std::string_view segment, std::int64_t items,
                                                    std::int64_t item_bytes_max) {
  const auto wrong = [&](std::int64_t item, const std::string& what) {
    return Error{ErrorKind::invalid, "segment of " + std::to_string(segment.size()) + " bytes: item " +
                                         std::to_string(item + 1) + " of " + std::to_string(items) + ": " +
                                         what};
  };
  if (items < 0) return Error{ErrorKind::invalid, "segment: expected a number of items, got a negative one"};
  if (segment.size() > static_cast<std::size_t>(limits::segment_bytes_max))
    return Error{ErrorKind::too_large, "segment: " + std::to_string(segment.size()) + " bytes, at most " +
                                           std::to_string(limits::segment_bytes_max) + " are allowed"};
  std::vector<std::string_view> views;
  views.reserve(std::min(static_cast<std::size_t>(items), segment.size() / length_bytes));
  std::string_view rest = segment;
  for (std::int64_t item = 0; item < items; ++item) {
    if (rest.size() < length_bytes) return wrong(item, "the segment ends before it");
    const std::int64_t length = read_length(rest);
    rest.remove_prefix(length_bytes);
    if (length > item_bytes_max)
      return wrong(item, std::to_string(length) + " bytes, at most " + std::to_string(item_bytes_max) +
                             " are allowed");
    if (static_cast<std::size_t>(length) > rest.size())
      return wrong(item, "the segment ends within it (" + std::to_string(length) + " bytes announced, " +
                             std::to_string(rest.size()) + " there)");
    views.push_back(rest.substr(0, static_cast<std::size_t>(length)));
    rest.remove_prefix(static_cast<std::size_t>(length));
  }
  if (!rest.empty())
    return Error{ErrorKind::invalid, "segment: " + std::to_string(rest.size()) +
                                         " bytes too many behind its " + std::to_string(items) + " items"};
  return views;
}

}  // namespace gleaner::protocol
