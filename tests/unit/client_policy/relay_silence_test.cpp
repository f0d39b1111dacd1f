#include "client/policy/relay_silence.h"

#include "tests/catch.h"

using namespace gleaner;
using namespace gleaner::client_policy;
using namespace std::chrono_literals;

namespace {
constexpr Duration three_days = 72h;
const Timestamp first_day = Timestamp{} + 24h * 20'000;
const SteadyTime run_began{};
}  // namespace

TEST_CASE("a relay is gone when nobody answered for the whole patience, and not a moment before") {
  RelaySilence silence;
  CHECK_FALSE(silence.for_good(three_days, first_day + 10 * three_days, run_began + 10 * three_days));
  silence.unheard(first_day, run_began);
  for (Duration past = 0h; past < three_days; past += 1h) {
    silence.unheard(first_day + past, run_began + past);
    CHECK_FALSE(silence.for_good(three_days, first_day + past, run_began + past));
  }
  CHECK(silence.since() == first_day);
  CHECK(silence.for_good(three_days, first_day + three_days, run_began + three_days));
  silence.heard();
  CHECK_FALSE(silence.since());
  CHECK_FALSE(silence.for_good(three_days, first_day + three_days, run_began + three_days));
  silence.unheard(first_day + three_days, run_began + three_days);
  CHECK_FALSE(silence.for_good(three_days, first_day + three_days + 1h, run_began + three_days + 1h));
}

TEST_CASE("after a holiday a relay is tried for an hour before it counts as gone") {
  RelaySilence silence(first_day);
  const Timestamp back = first_day + 24h * 14;
  CHECK_FALSE(silence.for_good(three_days, back, run_began));
  silence.unheard(back, run_began);
  CHECK(silence.since() == first_day);
  CHECK_FALSE(silence.for_good(three_days, back + 59min, run_began + 59min));
  CHECK(silence.for_good(three_days, back + 1h, run_began + 1h));
  silence.not_taken(run_began + 1h);
  CHECK_FALSE(silence.for_good(three_days, back + 119min, run_began + 119min));
  CHECK(silence.for_good(three_days, back + 2h, run_began + 2h));
}

TEST_CASE("a calendar that went back makes no silence longer") {
  RelaySilence silence(first_day + 24h * 100);
  silence.unheard(first_day, run_began);
  CHECK(silence.since() == first_day);
  CHECK_FALSE(silence.for_good(three_days, first_day + 71h, run_began + 71h));
}
