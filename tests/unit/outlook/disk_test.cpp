#include "server/policy/outlook/disk.h"

#include "tests/catch.h"

using namespace gleaner;
using policy::DiskOutlook;

namespace {

constexpr std::int64_t gigabyte = 1'000'000'000;

// Free space that falls by `per_hour` from 100 GB on, looked at every five seconds for so long.
DiskOutlook after(Duration time, std::int64_t per_hour) {
  DiskOutlook disk;
  Timestamp now{std::chrono::hours{1}};
  const Timestamp end = now + time;
  for (const Timestamp begin = now; now <= end; now += std::chrono::seconds{5})
    disk.note(now, 100 * gigabyte - static_cast<std::int64_t>(static_cast<double>(per_hour) *
                                                              to_seconds(now - begin) / 3600));
  return disk;
}

double hours(Duration time) {
  return to_seconds(time) / 3600;
}

}  // namespace

TEST_CASE("A disk that fills evenly is known to be full when it will be") {
  const auto left = after(std::chrono::hours{2}, 5 * gigabyte).until(10 * gigabyte);
  REQUIRE(left);
  CHECK(hours(*left) == Approx(16).epsilon(0.01));  // 90 GB less 10, at 5 an hour
}

TEST_CASE("Nothing is told of a disk that does not fill, hardly fills, or is hardly known") {
  CHECK_FALSE(DiskOutlook().until(0));
  CHECK_FALSE(after(std::chrono::hours{2}, 0).until(0));
  CHECK_FALSE(after(std::chrono::hours{2}, -gigabyte).until(0));
  CHECK_FALSE(after(std::chrono::hours{2}, 10).until(0));
  CHECK_FALSE(after(std::chrono::minutes{20}, 5 * gigabyte).until(0));
}

TEST_CASE("Half an hour says nothing of tomorrow") {
  CHECK_FALSE(after(std::chrono::minutes{40}, 4 * gigabyte).until(0));  // full in a day
  CHECK(after(std::chrono::minutes{40}, 20 * gigabyte).until(0));       // in four hours
  CHECK(after(std::chrono::hours{6}, 2 * gigabyte).until(0));           // in two days
}

TEST_CASE("What lies more than six hours back is forgotten, and all of it when the clock is set back") {
  DiskOutlook disk = after(std::chrono::hours{20}, 5 * gigabyte);
  REQUIRE(disk.until(0));
  Timestamp now{std::chrono::hours{22}};
  for (int i = 0; i < 7 * 60; ++i) disk.note(now += std::chrono::minutes{1}, 50 * gigabyte);
  CHECK_FALSE(disk.until(gigabyte));
  disk.note(Timestamp{std::chrono::hours{1}}, 0);
  CHECK_FALSE(disk.until(gigabyte));
  CHECK(after(std::chrono::hours{2}, 45 * gigabyte).until(11 * gigabyte) == Duration{0});
}
