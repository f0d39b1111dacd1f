#include "shared/protocol/segment.h"

#include "shared/base/limits.h"
#include "shared/base/random.h"
#include "tests/catch.h"

using namespace gleaner;
using namespace gleaner::protocol;

TEST_CASE("a segment is its items, each behind four bytes of length") {
  Bytes segment;
  append_item(segment, "ab");
  append_item(segment, "");
  append_item(segment, std::string(300, 'x'));
  CHECK(segment.substr(0, 12) == Bytes("\x02\0\0\0ab\0\0\0\0\x2c\x01", 12));
  const auto items = split_segment(segment, 3, 300);
  REQUIRE(items.ok());
  CHECK(*items == std::vector<std::string_view>{"ab", "", std::string_view(segment).substr(14)});
}

TEST_CASE("segments survive") {
  Random random(8);
  for (int round = 0; round < 200; ++round) {
    std::vector<Bytes> items(random.below(20));
    Bytes segment;
    for (Bytes& item : items) {
      for (std::uint64_t n = random.below(50); n > 0; --n) item += static_cast<char>(random.below(256));
      append_item(segment, item);
    }
    const auto count = static_cast<std::int64_t>(items.size());
    const auto views = split_segment(segment, count, 50);
    REQUIRE(views.ok());
    REQUIRE(views->size() == items.size());
    for (std::size_t i = 0; i < items.size(); ++i) CHECK((*views)[i] == items[i]);
    CHECK_FALSE(split_segment(segment, count + 1, 50).ok());
    if (count > 0) CHECK_FALSE(split_segment(segment, count - 1, 50).ok());
    if (!segment.empty())
      CHECK_FALSE(split_segment(segment.substr(0, random.below(segment.size())), count, 50).ok());
  }
}

TEST_CASE("segments that are wrong say where") {
  Bytes segment;
  append_item(segment, "abc");
  append_item(segment, "defg");
  using Catch::Contains;
  CHECK_THAT(split_segment(segment, 2, 3).error().message,
             Contains("item 2 of 2: 4 bytes, at most 3 are allowed"));
  CHECK_THAT(split_segment(segment, 3, 9).error().message,
             Contains("item 3 of 3: the segment ends before it"));
  CHECK_THAT(split_segment(segment.substr(0, 13), 2, 9).error().message, Contains("ends within it"));
  CHECK_THAT(split_segment(segment, 1, 9).error().message, Contains("8 bytes too many behind its 1 items"));
  CHECK_THAT(split_segment("", -1, 9).error().message, Contains("negative"));
  CHECK(split_segment("", 0, 9).ok());
  // Lengths up to 2^32 - 1 and absurd counts neither overflow nor reserve.
  CHECK_FALSE(split_segment(std::string(8, '\xff'), limits::items_max, limits::item_bytes_max).ok());
  CHECK_FALSE(split_segment(std::string(4, '\xff'), 1, std::int64_t{1} << 40).ok());
}
