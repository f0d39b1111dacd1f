#include "shared/io/waiting.h"

#include <unistd.h>

#include <array>
#include <thread>
#include <vector>

#include "tests/catch.h"

namespace gleaner::io {
namespace {
using namespace std::chrono_literals;

TEST_CASE("The first that is ready is told, and nothing when the time is over") {
  Wakeup first, second;
  const std::array both = {first.waitable(), second.waitable()};
  CHECK_FALSE(wait_any(both, 0s));
  CHECK_FALSE(wait_any(both, -5s));
  second.ring();
  CHECK(wait_any(both, 10s) == 1);
  CHECK(wait_any(both, 10s) == 1);  // until it is taken
  first.ring();
  CHECK(wait_any(both, 10s) == 0);
  CHECK(first.take());
  CHECK(second.take());
  CHECK_FALSE(wait_any(both, 0s));
}

TEST_CASE("A bell that rang several times is taken once") {
  Wakeup bell;
  CHECK_FALSE(bell.take());
  for (int i = 0; i < 1000; ++i) bell.ring();
  CHECK(bell.take());
  CHECK_FALSE(bell.take());
}

TEST_CASE("A bell ends the wait of another thread") {
  Wakeup bell;
  const SteadyTime begun = system_clock().steady();
  std::thread ringer([&] {
    std::this_thread::sleep_for(20ms);
    bell.ring();
  });
  const Waitable waitable = bell.waitable();
  CHECK(wait_any({&waitable, 1}, 60s) == 0);
  CHECK(system_clock().steady() - begun < 30s);
  ringer.join();
}

TEST_CASE("What is not there is never ready, and a wait is rounded up") {
  const std::array nothing = {Waitable(), Waitable()};
  const SteadyTime begun = system_clock().steady();
  CHECK_FALSE(wait_any(nothing, 1500us));
  CHECK(system_clock().steady() - begun >= 1500us);
  CHECK_FALSE(wait_any({}, 0s));
  CHECK_FALSE(Waitable().valid());
  CHECK(Waitable(0).valid());
}

TEST_CASE("Many are waited for as few are, and one whose other side is gone is ready") {
  int ends[2] = {-1, -1};
  REQUIRE(::pipe(ends) == 0);
  std::vector<Waitable> many(200);
  many[150] = Waitable(ends[0]);
  CHECK_FALSE(wait_any(many, 0s));
  ::close(ends[1]);
  CHECK(wait_any(many, 10s) == 150);
  ::close(ends[0]);
}

}  // namespace
}  // namespace gleaner::io
