#include "client/state/days.h"

#include "tests/catch.h"
#include "tests/unit/io/temporary_directory.h"

namespace gleaner::state {
namespace {

TEST_CASE("What each day had is kept, and the oldest days go") {
  const testing::TemporaryDirectory directory;
  const io::Path path = directory.path() / "days";
  io::Files& files = io::real_files();
  CHECK(load_days(files, path).empty());
  Days days;
  add_to_days(days, 20'000, {10, 0});
  add_to_days(days, 20'000, {5, 75});
  add_to_days(days, 20'001, {1, 15});
  REQUIRE(save_days(files, path, days).ok());
  CHECK(load_days(files, path) == days);
  CHECK(days.at(20'000) == DayUse{15, 75});
  for (std::int64_t day = 1; day <= 1000; ++day) add_to_days(days, 20'001 + day, {1, 0});
  CHECK(days.size() == days_kept_max);
  CHECK(days.rbegin()->first == 21'001);
  REQUIRE(save_days(files, path, days).ok());
  CHECK(load_days(files, path) == days);
}

TEST_CASE("A file that is not what it should be counts as nothing") {
  const testing::TemporaryDirectory directory;
  const io::Path path = directory.path() / "days";
  io::Files& files = io::real_files();
  for (const char* text :
       {"", "{", "7", "[7]", "[[1,2]]", R"([["a",1,2]])", "[[-1,1,1]]", "[[99999999999,1,1]]"}) {
    REQUIRE(files.write(path, text, io::Mode::secret).ok());
    CHECK(load_days(files, path).empty());
  }
  REQUIRE(files.write(path, R"([[1,-5,"x"],[2,1e300,3]])", io::Mode::secret).ok());
  const Days days = load_days(files, path);
  CHECK(days.at(1) == DayUse{0, 0});
  CHECK(days.at(2) == DayUse{0, 3});
}

}  // namespace
}  // namespace gleaner::state
