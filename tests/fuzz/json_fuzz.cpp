// JSON: what is read is written and read again as the same tree, in every layout, and within the bounds.
#include <algorithm>

#include "shared/base/utf8.h"
#include "shared/json/text.h"
#include "tests/fuzz/fuzz.h"

using namespace gleaner;

namespace {

struct Size {
  std::int64_t values = 0;
  int depth = 0;
};

Size size_of(const json::Value& value) {
  Size size{1, 0};
  const auto add = [&size](const json::Value& child) {
    const Size more = size_of(child);
    size.values += more.values;
    size.depth = std::max(size.depth, more.depth);
  };
  for (const auto& element : value.elements()) add(element);
  for (const auto& [name, member] : value.members()) add(member);
  if (value.is_array() || value.is_object()) ++size.depth;
  return size;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  const json::Bounds bounds{1000, 100, 8};
  const auto bounded = json::parse(text, bounds);
  const auto value = json::parse(text);
  if (bounded.ok()) {
    CHECK_TRUE(value.ok() && *value == *bounded);
    const Size found = size_of(*bounded);
    CHECK_TRUE(size <= 1000 && found.values <= bounds.values_max && found.depth <= bounds.depth_max);
  } else {
    CHECK_TRUE(!bounded.error().message.empty());
  }
  if (!value.ok()) return 0;
  for (const json::Layout layout :
       {json::Layout{}, json::Layout{2, false, true}, json::Layout{-1, false, true}}) {
    const std::string written = json::write(*value, layout);
    const auto again = json::parse(written);
    CHECK_TRUE(again.ok() && *again == *value);
    CHECK_TRUE(json::write(*again, layout) == written);
    if (layout.ascii) CHECK_TRUE(std::all_of(written.begin(), written.end(), [](char c) { return c > 0; }));
  }
  const std::string sorted = json::write(*value, {-1, true});
  const auto again = json::parse(sorted);
  CHECK_TRUE(again.ok() && json::write(*again, {-1, true}) == sorted);
  return 0;
}
