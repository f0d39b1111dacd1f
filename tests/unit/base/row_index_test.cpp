#include "shared/base/row_index.h"

#include "tests/catch.h"

using namespace gleaner;

TEST_CASE("an index of rows is found at the end of an archive") {
  const Bytes index = row_index({0, 1024, 1024}, 4096);
  CHECK(index.size() == 4 * 8 + 16);
  const std::int64_t archive = 5120 + static_cast<std::int64_t>(index.size());
  const auto place = find_row_index(std::string_view(index).substr(index.size() - 16), archive);
  REQUIRE(place.ok());
  CHECK((place->rows == 3 && place->offset == 5120));
  const auto offsets = read_row_index(std::string_view(index).substr(0, 32), *place);
  REQUIRE(offsets.ok());
  CHECK(*offsets == std::vector<std::int64_t>{0, 1024, 1024, 4096});
}

TEST_CASE("an index of rows that is none, or lies, is refused") {
  const Bytes index = row_index({0, 1024}, 4096);
  const std::string_view tail = std::string_view(index).substr(index.size() - 16);
  CHECK(find_row_index(Bytes(16, '\0'), 10'240).error().kind == ErrorKind::not_found);
  CHECK(find_row_index("", 0).error().kind == ErrorKind::not_found);
  CHECK(find_row_index(tail, 20).error().kind == ErrorKind::untrusted);
  CHECK(find_row_index("glnrows1" + Bytes(8, '\xff'), 10'240).error().kind == ErrorKind::untrusted);
  CHECK(find_row_index("glnrows1" + Bytes(8, '\0'), 10'240).error().kind == ErrorKind::untrusted);
  CHECK(find_row_index("glnrows1" + Bytes(7, '\0') + '\x7f', 10'240).error().kind == ErrorKind::untrusted);
  for (const Bytes& wrong : {row_index({512, 0}, 4096), row_index({0, 9999}, 10'000), row_index({-1}, 5)})
    CHECK(read_row_index(std::string_view(wrong).substr(0, wrong.size() - 16), {2, 4096}).error().kind ==
          ErrorKind::untrusted);
}
