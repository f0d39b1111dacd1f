#include "client/policy/cpu_share.h"

#include "shared/base/random.h"
#include "tests/catch.h"

namespace gleaner::client_policy {
namespace {
using namespace std::chrono_literals;

// A kernel that computes whenever it may, on a core of which `available` is left to it in each slice.
struct Machine {
  CpuShare controller;
  Slice slice = Slice::run;
  double used = 0;
  double passed = 0;
  void run(Random& random, double seconds, double available_least, double jitter) {
    for (const double end = passed + seconds; passed < end;) {
      const double length = 0.01 * (1 + jitter * random.uniform());
      const double available = available_least + (1 - available_least) * random.uniform();
      const double consumed = slice == Slice::run ? length * available : 0;
      used += consumed;
      passed += length;
      slice = controller.next(from_seconds(length), from_seconds(consumed));
    }
  }
};

TEST_CASE("On a quiet core the share is met within two percent, at any tick jitter") {
  const double share = GENERATE(0.05, 0.1, 0.2, 0.33, 0.5, 0.8, 0.95);
  const std::uint64_t seed = GENERATE(1, 2, 3);
  INFO("share " << share << " seed " << seed);
  Random random(seed);
  Machine machine{CpuShare(share)};
  machine.run(random, 30, 1, 0.5);
  CHECK(machine.used / machine.passed == Approx(share).epsilon(0.02));
}

TEST_CASE("Other load that leaves enough does not lower the share") {
  const std::uint64_t seed = GENERATE(1, 2, 3, 4);
  INFO("seed " << seed);
  Random random(seed);
  Machine machine{CpuShare(0.3)};
  machine.run(random, 60, 0.2, 0);  // on average 60 % of each slice is left
  CHECK(machine.used / machine.passed == Approx(0.3).epsilon(0.02));
}

TEST_CASE("What a busy machine withheld is not taken back in a burst") {
  Random random(5);
  CpuShare controller(0.5);
  for (int i = 0; i < 10'000; ++i) CHECK(controller.next(10ms, 0ms) == Slice::run);  // starved for 100 s
  CHECK(controller.balance() <= CpuShare::credit_max);
  Machine machine{controller};
  machine.run(random, 1, 1, 0);
  CHECK(machine.used <= 0.5 + to_seconds(CpuShare::credit_max) + 0.02);
}

TEST_CASE("Debt is carried, bounded, and paid by standing still") {
  CpuShare controller(0.1);
  CHECK(controller.next(10ms, 100ms) == Slice::stop);
  CHECK(controller.until_credit() > 900ms);
  CHECK(controller.until_credit() < 1s);
  CHECK(controller.next(980ms, 0ms) == Slice::stop);
  CHECK(controller.next(20ms, 0ms) == Slice::run);
  CHECK(controller.next(10ms, 1h) == Slice::stop);
  CHECK(controller.balance() >= -CpuShare::debt_max);
}

TEST_CASE("A kernel of several threads gets a share of several cores") {
  CpuShare controller(2 * 0.4);
  double used = 0;
  Slice slice = Slice::run;
  for (int i = 0; i < 3000; ++i) {
    const double consumed = slice == Slice::run ? 0.02 : 0;  // two threads for 10 ms
    used += consumed;
    slice = controller.next(10ms, from_seconds(consumed));
  }
  CHECK(used / 30 == Approx(0.8).epsilon(0.02));
}

TEST_CASE("Clocks that stand still or run backwards do not upset it") {
  CpuShare controller(0.5);
  CHECK(controller.next(Duration{-1'000'000}, Duration{-1'000'000}) == Slice::stop);
  CHECK(controller.next(10ms, 0ms) == Slice::run);
}

}  // namespace
}  // namespace gleaner::client_policy
