#include "client/view/picture.h"

#include <array>
#include <cstring>
#include <set>

#include "client/view/cells.h"
#include "tests/catch.h"

namespace gleaner::view {
namespace {

std::array<int, 3> pixel(const Picture& picture, int x, int y) {
  const auto* at =
      reinterpret_cast<const unsigned char*>(picture.pixels().data()) + 3 * (y * picture.width() + x);
  return {at[0], at[1], at[2]};
}

const std::array<int, 3> blank{Picture::blank[0], Picture::blank[1], Picture::blank[2]};

template <typename... Numbers>
Bytes packed(Numbers... numbers) {
  Bytes bytes;
  (bytes.append(reinterpret_cast<const char*>(&numbers), sizeof numbers), ...);
  return bytes;
}

PictureSpec rows(std::int64_t count, Value value = Value::rgb8) {
  PictureSpec spec;
  spec.kind = PictureKind::rows;
  spec.value = value;
  spec.rows = count;
  return spec;
}

TEST_CASE("Rows appear where they belong, and say what changed") {
  Picture picture(rows(4));
  CHECK(picture.width() == 0);
  picture.add(2, Bytes("\x01\x02\x03\x0a\x0b\x0c", 6));
  REQUIRE(picture.width() == 2);
  REQUIRE(picture.height() == 4);
  CHECK(pixel(picture, 0, 2) == std::array{1, 2, 3});
  CHECK(pixel(picture, 1, 2) == std::array{10, 11, 12});
  CHECK(pixel(picture, 0, 0) == blank);
  CHECK(picture.take_changes().end == 4);  // the first shows the whole
  picture.add(1, Bytes(6, '\x7f'));
  const Band changed = picture.take_changes();
  CHECK((changed.begin == 1 && changed.end == 2));
  CHECK(picture.take_changes().empty());
  CHECK(picture.items() == 2);
}

TEST_CASE("A large picture is shown smaller, in its proportions") {
  Picture picture(rows(3000));
  picture.add(2999, Bytes(3 * 4000, '\x40'));
  CHECK(picture.width() == 800);
  CHECK(picture.height() == 600);
  CHECK(pixel(picture, 799, 599) == std::array{0x40, 0x40, 0x40});
  CHECK(pixel(picture, 0, 598) == blank);
}

TEST_CASE("Items that do not fit their declaration spoil nothing") {
  Picture picture(rows(4));
  picture.add(0, Bytes(6, '\x11'));
  const Bytes before = picture.pixels();
  picture.add(1, Bytes(9, '\x22'));   // another width
  picture.add(4, Bytes(6, '\x22'));   // no such row
  picture.add(-1, Bytes(6, '\x22'));  // nor this
  picture.add(1, Bytes(5, '\x22'));   // not whole pixels
  picture.add(1, Bytes());
  CHECK(picture.pixels() == before);
  Picture quilt(rows(4));
  quilt.add(0, "hello");  // whose first is none: a quilt
  CHECK(quilt.width() > 100);
}

TEST_CASE("Escape counts are coloured, and black inside") {
  PictureSpec spec = rows(1, Value::escape);
  spec.inside = 100;
  Picture picture(spec);
  picture.add(0, packed(std::uint32_t{100}, 0.0F, std::uint32_t{7}, 0.25F, std::uint32_t{7}, 0.0F / 0.0F));
  REQUIRE(picture.width() == 3);
  CHECK(pixel(picture, 0, 0) == std::array{0, 0, 0});
  CHECK(pixel(picture, 1, 0) != std::array{0, 0, 0});
}

TEST_CASE("Numbers are coloured by their part of the largest, and again when it grows") {
  Picture picture(rows(2, Value::float32));
  picture.add(0, packed(1.0F, 0.0F));
  const auto hot = pixel(picture, 0, 0);
  CHECK(hot[0] > 200);
  picture.add(1, packed(100.0F, -5.0F));
  CHECK(pixel(picture, 0, 1)[0] > 200);
  CHECK(pixel(picture, 0, 0)[0] < hot[0]);
  CHECK(pixel(picture, 1, 1) == pixel(picture, 1, 0));  // below zero is nothing
}

TEST_CASE("Heat adds up") {
  PictureSpec spec;
  spec.kind = PictureKind::heat;
  spec.value = Value::uint32;
  spec.columns = 2;
  spec.skip = 4;
  Picture picture(spec);
  picture.add(
      0, packed(std::uint32_t{9}, std::uint32_t{1}, std::uint32_t{0}, std::uint32_t{0}, std::uint32_t{4}));
  REQUIRE((picture.width() == 2 && picture.height() == 2));
  const auto before = pixel(picture, 0, 0);
  picture.add(
      1, packed(std::uint32_t{9}, std::uint32_t{9}, std::uint32_t{0}, std::uint32_t{0}, std::uint32_t{0}));
  CHECK(pixel(picture, 0, 0)[0] > before[0]);
  CHECK(pixel(picture, 1, 0)[0] < before[0]);
}

TEST_CASE("Heat may be in a part of an item") {
  PictureSpec spec;
  spec.kind = PictureKind::heat;
  spec.value = Value::grey8;
  spec.columns = 3;
  spec.lines = 2;
  Picture picture(spec);
  picture.add(0, Bytes("\1\2\3\4\5\6\x7f\x7f\x7f", 9));
  REQUIRE((picture.width() == 3 && picture.height() == 2));
  CHECK(pixel(picture, 2, 1)[0] > 200);  // the largest of those lines
  Picture longer(spec);
  longer.add(0, Bytes("\1\2\3", 3));  // not that many
  CHECK(longer.width() == 800);       // a quilt
}

PictureSpec tiles(std::int64_t rows, std::int64_t columns) {
  PictureSpec spec;
  spec.kind = PictureKind::tiles;
  spec.value = Value::grey8;
  spec.rows = rows;
  spec.columns = columns;
  spec.tile_part = 4;
  spec.tile_min = 2;
  spec.tile_max = 8;
  return spec;
}

TEST_CASE("A band of tiles is laid out line by line") {
  Picture picture(tiles(4, 8));  // tiles of 2 x 2
  Bytes band;
  for (int place = 0; place < 16; ++place) band += static_cast<char>(place == 6 || place == 9 ? 100 : 1);
  picture.add(1, band);
  REQUIRE((picture.width() == 8 && picture.height() == 4));
  CHECK(pixel(picture, 0, 0) == blank);
  // Place 6 is the left of the second line of the second tile, place 9 the right of the first line of the
  // third.
  for (int y = 2; y < 4; ++y)
    for (int x = 0; x < 8; ++x)
      CHECK((pixel(picture, x, y)[0] > 200) == ((x == 2 && y == 3) || (x == 5 && y == 2)));
  picture.add(2, band);   // there is no such band
  picture.add(-1, band);  // nor that one
  picture.add(0, band.substr(1));
  CHECK(pixel(picture, 0, 0) == blank);
  picture.add(0, Bytes(16, '\1'));
  CHECK(pixel(picture, 0, 0) == pixel(picture, 0, 2));
}

TEST_CASE("A square of tiles is as large as its bands say") {
  Picture picture(tiles(0, 0));
  Bytes band(64 * 8, '\1');
  band[3 * 64 + 8 + 5] = 'z';  // fourth tile, second line, sixth column
  picture.add(7, band);
  REQUIRE((picture.width() == 64 && picture.height() == 64));
  CHECK(pixel(picture, 3 * 8 + 5, 7 * 8 + 1)[0] > 200);
  CHECK(pixel(picture, 3 * 8 + 4, 7 * 8 + 1)[0] < 100);
  Picture odd(tiles(0, 0));
  odd.add(0, Bytes(64 * 8 + 1, '\1'));
  CHECK(odd.width() == 800);  // a quilt
  Picture large(tiles(0, 0));
  Bytes bright(1024 * 8, '\1');
  bright[1] = 'z';  // the second of 1024 columns, which share 600 pixels
  large.add(0, bright);
  REQUIRE((large.width() == 600 && large.height() == 600));
  CHECK(pixel(large, 0, 0)[0] > 200);
  CHECK(pixel(large, 1, 0)[0] < 100);
}

TEST_CASE("Cells are coloured by one number, each in its place") {
  PictureSpec spec;
  spec.kind = PictureKind::cells;
  spec.value = Value::uint32;
  spec.skip = 4;
  Picture picture(spec);
  picture.add(41, packed(std::uint32_t{9}, std::uint32_t{10}, std::uint32_t{9}));
  REQUIRE((picture.width() == 800 && picture.height() == 600));
  CHECK(pixel(picture, 20, 20)[0] > 200);  // the second of the second line
  CHECK(pixel(picture, 38, 20) == blank);  // its frame
  CHECK(pixel(picture, 0, 0) == blank);
  picture.add(0, packed(std::uint32_t{9}, std::uint32_t{1000}));
  CHECK(pixel(picture, 0, 0)[0] > 200);
  CHECK(pixel(picture, 20, 20)[0] < 100);
  picture.add(40 * 30, packed(std::uint32_t{9}, std::uint32_t{0}));  // around
  CHECK(pixel(picture, 0, 0)[0] < 100);
  picture.add(5, "short");
  CHECK(pixel(picture, 100, 0) == blank);
}

TEST_CASE("A tour is drawn when it is the shortest so far") {
  PictureSpec spec;
  spec.kind = PictureKind::tour;
  spec.skip = 16;
  Picture picture(spec);
  const auto tour = [](std::int64_t length, const Bytes& cities) {
    return packed(std::int64_t{1}, length) + cities;
  };
  picture.add(0, tour(50, Bytes("\0\1\2\3", 4)));
  const Bytes first = picture.pixels();
  picture.add(1, tour(60, Bytes("\0\2\1\3", 4)));
  CHECK(picture.pixels() == first);
  picture.add(2, tour(40, Bytes("\0\3\1\2", 4)));
  CHECK(picture.pixels() != first);
  const Bytes second = picture.pixels();
  picture.add(3, tour(-1, ""));
  picture.add(4, "short");
  CHECK(picture.pixels() == second);
}

TEST_CASE("Every item of a quilt has a patch of its own, the same for the same bytes") {
  Picture picture{PictureSpec{}};
  std::set<std::uint64_t> patterns;
  for (int i = 0; i < 1000; ++i) patterns.insert(pattern_of("item " + std::to_string(i)));
  CHECK(patterns.size() == 1000);
  for (int i = 0; i < 2000; ++i) picture.add(i, "item " + std::to_string(i));  // around and over the oldest
  CHECK(picture.items() == 2000);
  Picture again{PictureSpec{}};
  for (int i = 0; i < 2000; ++i) again.add(i, "item " + std::to_string(i));
  CHECK(again.pixels() == picture.pixels());
  CHECK(pattern_of(Bytes(100000, 'a')) != pattern_of(Bytes(99999, 'a') + "b"));
}

}  // namespace
}  // namespace gleaner::view
