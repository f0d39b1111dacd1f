#include "shared/logging/repeats.h"

#include "tests/catch.h"

namespace gleaner::logging {
namespace {

const Repeats::Time start{std::chrono::hours{480'000}};

std::string unit(int number) {
  return "unit " + std::to_string(number) + ": ignored an acknowledgement for another result";
}

}  // namespace

TEST_CASE("A line that repeats is written some times a minute, then counted", "[repeats]") {
  Repeats repeats;
  std::int64_t written = 0;
  for (int i = 0; i < 332; ++i)
    written += repeats.admit(3, unit(i), start + std::chrono::milliseconds{100 * i}) ? 1 : 0;
  CHECK(written == lines_a_minute);
  CHECK(repeats.take_due(start + std::chrono::seconds{59}).empty());
  const auto due = repeats.take_due(start + std::chrono::seconds{60});
  REQUIRE(due.size() == 1);
  CHECK(due[0].level == 3);
  CHECK(Repeats::text(due[0]) == unit(331) + ", and 312 more like it in the last minute");
  CHECK(repeats.take_due(start + std::chrono::hours{1}).empty());
  CHECK(repeats.admit(3, unit(1), start + std::chrono::seconds{61}));  // a new minute
}

TEST_CASE("Lines that say something else are written", "[repeats]") {
  Repeats repeats;
  for (int i = 0; i < 100; ++i) static_cast<void>(repeats.admit(3, unit(i), start));
  CHECK(repeats.admit(2, unit(1), start));  // another level
  CHECK(repeats.admit(3, "slot 1 is idle", start));
}

TEST_CASE("A line is of one kind whatever strangers said behind it", "[repeats]") {
  Repeats repeats;
  const std::string ours =
      "item 3 of unit 17 of problem 2 failed on a host, which counts for the application: ";
  std::int64_t written = 0;
  for (int i = 0; i < 100; ++i)
    written += repeats.admit(3, ours + std::string(static_cast<std::size_t>(i), 'x'), start) ? 1 : 0;
  CHECK(written == lines_a_minute);
}

TEST_CASE("Lines that all say something else are written some times a minute, too", "[repeats]") {
  Repeats repeats;
  std::int64_t written = 0;
  for (int i = 0; i < 2000; ++i) {
    const std::string line = {static_cast<char>('a' + i / 676), static_cast<char>('a' + i / 26 % 26),
                              static_cast<char>('a' + i % 26)};
    written += repeats.admit(3, line, start + std::chrono::milliseconds{i}) ? 1 : 0;
  }
  CHECK(written == lines_in_all_a_minute);
  const auto due = repeats.take_due(start + std::chrono::seconds{62});
  REQUIRE(due.size() == 1);
  CHECK(Repeats::text(due[0]) == "cyx, and 1400 more lines of all kinds in the last minute");
  CHECK(repeats.admit(3, "again", start + std::chrono::seconds{62}));
}

TEST_CASE("No lines of others hide errors, which have a bound of their own", "[repeats]") {
  Repeats repeats;
  const auto line = [](int i) {
    return std::string(1, static_cast<char>('a' + i % 26)) + char('a' + i / 26);
  };
  for (int i = 0; i < 26 * 26; ++i) static_cast<void>(repeats.admit(3, line(i), start));
  CHECK_FALSE(repeats.admit(3, "the disk is full", start));
  std::int64_t written = 0;
  for (int i = 0; i < 26 * 26; ++i) written += repeats.admit(error_level, line(i), start) ? 1 : 0;
  CHECK(written == errors_a_minute);
  CHECK(repeats.take_due(start + std::chrono::minutes{1}).size() == 2);
}

TEST_CASE("A clock that jumps back ends the minute", "[repeats]") {
  Repeats repeats;
  for (int i = 0; i < 30; ++i) static_cast<void>(repeats.admit(3, unit(i), start));
  CHECK(repeats.take_due(start - std::chrono::hours{1}).size() == 1);
}

TEST_CASE("Kinds are bounded: the oldest is told of early", "[repeats]") {
  Repeats repeats;
  for (int i = 0; i < 30; ++i) static_cast<void>(repeats.admit(3, unit(i), start));
  for (std::size_t i = 0; i <= shapes_max; ++i) {
    const std::string line = {static_cast<char>('a' + i / 26), static_cast<char>('a' + i % 26)};
    static_cast<void>(repeats.admit(3, line, start + std::chrono::milliseconds{1 + i}));
  }
  const auto due = repeats.take_due(start + std::chrono::seconds{1});
  REQUIRE(due.size() == 1);
  CHECK(due[0].count == 10);
}

}  // namespace gleaner::logging
