#include "server/policy/mapping/remap.h"

#include "tests/catch.h"

using namespace gleaner::policy;

TEST_CASE("the dynamic batch size grows with the time to the first idle host, within its bounds") {
  CHECK(batch_size(0, 0.01, 10, 1000) == 20);
  CHECK(batch_size(1, 0.01, 10, 1000) == 50);
  CHECK(batch_size(1, 0.01, 10, 30) == 30);
  CHECK(batch_size(1000, 0.01, 10, 1000) == 500);
  CHECK(batch_size(5, 0, 10, 1000) == 500);  // what planning costs is not known yet
  CHECK(batch_size(0, 0, 10, 1000) == 20);
  CHECK(batch_size(9, 0.01, 300, 1000) == 600);  // two a host, though that is over the most
  CHECK(batch_size(1, 0.01, 0, 100) == 50);
  std::int64_t last = 0;
  for (int tenth = 0; tenth < 200; ++tenth) {
    const std::int64_t size = batch_size(tenth / 10.0, 0.02, 7, 400);
    CHECK(size >= last);
    CHECK(size <= 400);
    CHECK(size >= 14);
    last = size;
  }
}

TEST_CASE("what makes the server plan again") {
  CHECK(!should_remap({}).remap);
  CHECK(should_remap({.batch_exhausted = true}).remap);
  CHECK(should_remap({.work_arrived = true}).remap);
  CHECK(should_remap({.hosts_changed = true}).remap);
  CHECK(!should_remap({.completions = 4, .hosts = 10}).remap);
  CHECK(should_remap({.completions = 5, .hosts = 10}).remap);
  CHECK(!should_remap({.estimate_then = 100, .estimate_now = 125}).remap);
  CHECK(should_remap({.estimate_then = 100, .estimate_now = 126}).remap);
  CHECK(should_remap({.estimate_then = 100, .estimate_now = 74}).remap);
  CHECK(should_remap({.estimate_then = 100, .estimate_now = 74}).reason == "estimates are off by 26 %");
}

TEST_CASE("a new plan must be worth the change") {
  CHECK(!should_replace(100, 100).remap);
  CHECK(!should_replace(100, 99).remap);
  CHECK(should_replace(100, 98.9).remap);
  CHECK(should_replace(100, 99, 0).remap);
  CHECK(!should_replace(0, 0).remap);
}

TEST_CASE("the start time of a host") {
  CHECK(start_time(0, 0, 0) == 0);
  CHECK(start_time(0, 0, 30) == 30);
  CHECK(start_time(100, 40, 30) == 90);
  CHECK(start_time(100, 99, 0) == Approx(10));  // overdue or nearly: a tenth
  CHECK(start_time(100, 500, 7) == Approx(17));
  CHECK(!is_overdue(100, 300));
  CHECK(is_overdue(100, 301));
}
