#include "client/policy/traffic.h"

#include "tests/catch.h"

namespace gleaner::client_policy::traffic_test {
namespace {
using namespace std::chrono_literals;

constexpr int monday_noon = 12 * 60;

Timestamp at(int year, unsigned month, unsigned day, Duration time) {
  return std::chrono::sys_days{std::chrono::year{year} / static_cast<int>(month) / static_cast<int>(day)} +
         time;
}

TEST_CASE("The date is that of the computer's own zone") {
  // 30 November 2026 is a Monday.
  const LocalDate here = date_of(at(2026, 11, 30, 12h), {monday_noon});
  CHECK(here.month == 2026 * 12 + 10);
  CHECK(date_of(at(2026, 11, 30, 23h + 30min), {24 * 60 + 30}).day == here.day + 1);  // an hour east
  CHECK(date_of(at(2026, 11, 30, 23h + 30min), {24 * 60 + 30}).month == here.month + 1);
  CHECK(date_of(at(2026, 12, 1, 3h), {22 * 60}).day == here.day);                      // five hours west
  CHECK(date_of(at(2026, 11, 30, 1h), {minutes_per_week - 120}).day == here.day - 1);  // Sunday evening there
  CHECK(date_of(at(2026, 11, 29, 23h), {13 * 60}).day == here.day);  // and fourteen hours east
}

TEST_CASE("A day and a month begin anew, also when the clock is set back") {
  TrafficCount count;
  add_traffic(count, {100, 40}, 5'000'000);
  add_traffic(count, {100, 40}, 2'000'000);
  CHECK(count.day_bytes == 7'000'000);
  add_traffic(count, {101, 40}, 1'000'000);
  CHECK(count.day_bytes == 1'000'000);
  CHECK(count.month_bytes == 8'000'000);
  CHECK(text_of(count, {500'000'000, 0}) == "traffic: 976.6 KiB of 476.8 MiB today, 7.6 MiB this month");
  add_traffic(count, {130, 41}, 0);
  CHECK(count.month_bytes == 0);
  add_traffic(count, {129, 40}, 3);
  CHECK(count.day_bytes == 3);
}

TEST_CASE("A limit that is reached says which one, and no limit none") {
  TrafficCount count{{1, 1}, 500, 900};
  CHECK(traffic_trouble(count, {}).empty());
  CHECK(traffic_trouble(count, {501, 901}).empty());
  CHECK(traffic_trouble(count, {500, 0}).starts_with("today's traffic"));
  CHECK(traffic_trouble(count, {500, 900}).starts_with("this month's traffic"));
}

}  // namespace
}  // namespace gleaner::client_policy::traffic_test
