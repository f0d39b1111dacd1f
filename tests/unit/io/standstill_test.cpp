#include "shared/io/standstill.h"

#include "tests/catch.h"

namespace gleaner::io {
namespace {
using namespace std::chrono_literals;
using Verdict = Standstill::Verdict;

TEST_CASE("What stops a moment late, and then stands, is let be") {
  Standstill standstill;
  for (int stops = 0; stops < 1000; ++stops) {
    standstill.begin(4);
    CHECK(standstill.look(60ms) == Verdict::stop_again);  // four processors, 15 ms each
    for (int looks = 0; looks < 10; ++looks) CHECK(standstill.look(100us) == Verdict::still);
  }
}

TEST_CASE("What runs while it is stopped is stopped again, and ended after half a second of processor time") {
  const Duration each = GENERATE(as<Duration>{}, 5ms, 50ms, 200ms, 2s);
  Standstill standstill;
  standstill.begin(1);
  Duration taken{0};
  Verdict verdict = Verdict::still;
  while (verdict != Verdict::end) {
    REQUIRE(taken < Standstill::taken_max + Standstill::late_max);
    verdict = standstill.look(each);
    CHECK(verdict != Verdict::still);
    taken += each;
  }
  CHECK(taken >= Standstill::taken_max);
  CHECK(standstill.words().find(" s of processor time while it was paused") != std::string::npos);
}

TEST_CASE("What it took is forgiven while it runs as it may") {
  Standstill standstill;
  for (int slices = 0; slices < 10'000; ++slices) {
    standstill.begin(1);
    CHECK(standstill.look(25ms) != Verdict::end);  // once in a while, on a busy computer
    standstill.ran(1s);
  }
}

}  // namespace
}  // namespace gleaner::io
