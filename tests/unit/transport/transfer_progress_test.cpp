#include "shared/transport/transfer_progress.h"

#include "tests/catch.h"

namespace gleaner::transport {
namespace {
using namespace std::chrono_literals;

TEST_CASE("How far a transfer is, how fast of late, and since when nothing came") {
  FakeClock clock;
  TransferProgress progress(clock);
  CHECK_FALSE(progress.view());
  progress.begin(1'000'000, 9'000'000);
  CHECK(text_of(*progress.view()) == "11 % of 8.6 MiB");
  std::int64_t done = 1'000'000;
  for (int second = 0; second < 40; ++second) {
    clock.advance(1s);
    progress.reach(done += 50'000);
  }
  CHECK(text_of(*progress.view()) == "33 % of 8.6 MiB at 48.8 KiB/s");
  for (int second = 0; second < 60; ++second) {  // the line is slower now
    clock.advance(1s);
    progress.reach(done += 8'000);
  }
  CHECK(text_of(*progress.view()) == "38 % of 8.6 MiB at 7.8 KiB/s");
  clock.advance(20s);
  CHECK(text_of(*progress.view()) == "38 % of 8.6 MiB, nothing for 20 s");
  CHECK(progress.total() == done - 1'000'000);
  progress.end();
  CHECK_FALSE(progress.view());
}

TEST_CASE("What was there before does not count as having come") {
  FakeClock clock;
  TransferProgress progress(clock);
  progress.begin(500, 500);
  progress.end();
  progress.begin(100, 200);
  progress.reach(150);
  progress.reach(120);  // a server that lost some
  progress.reach(200);
  CHECK(progress.total() == 130);
  CHECK(text_of(*progress.view()) == "100 % of 200 B");
}

}  // namespace
}  // namespace gleaner::transport
