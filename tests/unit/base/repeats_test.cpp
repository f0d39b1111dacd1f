// Lines of a log that repeat.
#include "shared/base/repeats.h"
#include "tests/catch.h"

using namespace gleaner;

TEST_CASE("a line that repeats is written at once, then now and then with its count") {
  Repeats repeats;
  SteadyTime now{};
  CHECK(repeats.say("the disk is full", now) == "the disk is full");
  int written = 0;
  for (int i = 0; i < 3600; ++i) {
    now += std::chrono::seconds{1};
    if (const auto line = repeats.say("the disk is full", now)) {
      ++written;
      CHECK(*line == "the disk is full (600 times in the last 10 minutes)");
    }
  }
  CHECK(written == 6);
  CHECK(repeats.say("the disk is gone", now) == "the disk is gone");  // news
  repeats.clear();
  CHECK(repeats.say("the disk is gone", now) == "the disk is gone");
}
