// Who draws less for the same work gets it, where it ends no later.
#include "tests/catch.h"
#include "tests/unit/policy/stage_bench.h"

using namespace gleaner;
using namespace gleaner::policy;

namespace {

constexpr int hungry = 1, thrifty = 2;

StageSetup small_stage(std::int64_t items = 1) {
  StageSetup setup;
  setup.items = items;
  setup.sizing = "gleaner";
  return setup;
}

struct Begin : StageBench {
  explicit Begin(const StageSetup& with = small_stage()) : StageBench(with) {
    watts = {{hungry, 50}, {thrifty, 5}};
    performance = 1000;
  }
  void expect_thrifty(double asks_in, double as_fast = 1, double draws = 5) {
    recorded.apply(
        ExpectEvent{{{HostId{thrifty}, 1, as_fast * performance, draws, now + from_seconds(asks_in)}}}, now);
  }
};

// A stage whose items take hours, one of them held by host 9; hosts compute a hint unit a second, and the
// thrifty one a tenth more.
StageSetup long_stage() {
  StageSetup setup;
  setup.items = 2;
  setup.costs = {10'000, 10'000};
  setup.sizing = "ss";
  setup.may_split = false;
  setup.benchmark_worth = 1 / 0.85;
  setup.rules.copy_budget = 0;
  return setup;
}

struct Endgame : StageBench {
  explicit Endgame(const StageSetup& with = long_stage()) : StageBench(with) {
    watts = {{hungry, 50}, {thrifty, 5}};
    held = take(9);
    finish(take(8));
    performance = 1.1;
    REQUIRE_FALSE(ask(thrifty).unit);  // nothing to do yet: it will ask again
    performance = 1;
    asks_at = now + from_seconds(11);
  }
  // Its holder's owner is back: now it is free for others.
  void pause_holder() { report(held, held.range.begin, 1, 0, protocol::RunState::paused); }

  Unit held;
  Timestamp asks_at;
};

}  // namespace

TEST_CASE("free items are left to hosts that draw less and are about to ask, one for each") {
  Begin stage;
  stage.expect_thrifty(3);
  const Grant grant = stage.ask(hungry);
  CHECK_FALSE(grant.unit);
  CHECK(grant.reason.find("more efficient") != std::string::npos);
  CHECK(grant.retry_after > 0);
  stage.wait(3);
  stage.take(thrifty);
}

TEST_CASE("who waits for work in the stage counts as well") {
  Begin stage;
  const Unit held = stage.take(9);
  CHECK_FALSE(stage.ask(thrifty).unit);
  stage.give_back(held, GiveBack::returned);
  CHECK_FALSE(stage.ask(hungry).unit);
  stage.take(thrifty);
}

TEST_CASE("nobody is passed over without need") {
  SECTION("for one that is not due") {
    Begin stage;
    stage.expect_thrifty(20);
    stage.take(hungry);
  }
  SECTION("for one that was due and did not ask") {
    Begin stage;
    stage.expect_thrifty(3);
    CHECK_FALSE(stage.ask(hungry).unit);
    stage.wait(3.1);
    stage.take(hungry);
  }
  SECTION("for one that is slower") {
    Begin stage;
    stage.expect_thrifty(3, 0.5);
    stage.take(hungry);
  }
  SECTION("for one that draws hardly less") {
    Begin stage;
    stage.expect_thrifty(3, 1, 48);
    stage.take(hungry);
  }
  SECTION("whose owner said nothing") {
    Begin stage;
    stage.watts.clear();
    stage.expect_thrifty(3);
    stage.take(hungry);
  }
  SECTION("while there is more than the others take") {
    Begin stage(small_stage(2));
    stage.expect_thrifty(3);
    stage.take(hungry);
    CHECK_FALSE(stage.ask(hungry, 1).unit);  // now there is one, for one
  }
  SECTION("to get work ahead") {
    Begin stage(small_stage(2));
    stage.take(hungry);
    stage.expect_thrifty(3);
    CHECK(stage.ask(hungry, 0, false).unit);
  }
}

TEST_CASE("what a stalled holder keeps goes to the idle host that draws less") {
  Endgame stage;
  stage.wait(5);
  stage.pause_holder();
  const Grant grant = stage.ask(hungry);
  CHECK_FALSE(grant.unit);
  CHECK(grant.reason.find("draw less") != std::string::npos);
  stage.wait(6);
  CHECK(stage.now == stage.asks_at);
  stage.performance = 1.1;
  CHECK(stage.take(thrifty).range == stage.held.range);
}

TEST_CASE("a host that draws less but does not come keeps nobody waiting") {
  Endgame stage;
  stage.wait(5);
  stage.pause_holder();
  CHECK_FALSE(stage.ask(hungry).unit);
  stage.wait(6.1);
  CHECK(stage.take(hungry).range == stage.held.range);
}
