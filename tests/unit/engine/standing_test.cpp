// What a host is to its project: a copy delivers and parts, one that is not known joins again.
#include "client/state/identity.h"
#include "tests/catch.h"
#include "tests/unit/engine/world.h"
#include "tests/unit/says.h"

namespace gleaner::engine::testing {
namespace {

using namespace std::chrono_literals;

TEST_CASE("A copy computes no more, delivers what it has finished, and joins as a host of its own") {
  World world;
  world.server.set_application(script_kernel(at_a_pace));
  world.server.queue_unit({0, 10'000});
  world.server.queue_unit({10'000, 20'000});
  int parted = 0;
  world.part = [&]() -> Status {
    ++parted;
    CHECK(world.engine->status().units_in_hand == 0);
    if (parted == 1) return Error{ErrorKind::forbidden, "cannot join: this join code admits 1 host"};
    return {};
  };
  world.start();
  REQUIRE(world.run_until([&] { return world.engine->status().slots[0].finished > 5; }));
  const auto finished = world.engine->status().slots[0].finished;
  world.server.instance = protocol::InstanceOrder::part;
  REQUIRE(world.run_until([&] { return parted == 1; }, 200ms));
  CHECK(world.has_all({0, finished}));  // nothing is lost
  CHECK(world.gate.groups.empty());
  CHECK(says(world.engine->status().reason, "another computer uses the identity of this one"));
  CHECK(says(world.engine->status().reason, "this join code admits 1 host"));
  CHECK_FALSE(world.engine->moved());
  const std::size_t requests = world.server.work.size();
  REQUIRE(world.run_until([&] { return parted == 2; }, 60s));
  CHECK(world.engine->moved());
  CHECK(world.server.work.size() == requests);  // it asked for nothing meanwhile
}

TEST_CASE("A copy that is killed before it has parted goes on with that, and computes nothing") {
  World world;
  world.server.set_application(script_kernel(at_a_pace));
  world.server.queue_unit({0, 10'000});
  world.start();
  REQUIRE(world.run_until([&] { return world.engine->status().slots[0].finished > 5; }));
  world.server.instance = protocol::InstanceOrder::part;
  REQUIRE(world.run_until([&] { return std::filesystem::exists(world.project / "identity/copy"); }, 200ms));
  bool parted = false;
  world.part = [&]() -> Status {
    parted = true;
    return {};
  };
  world.kill();
  world.start();
  REQUIRE(world.run_until([&] { return parted; }, 200ms));
  CHECK(world.engine->status().units_in_hand == 0);
}

TEST_CASE("A copy that is not known any more gives the other one time to deliver") {
  World world;
  world.server.set_application(script_kernel(at_a_pace));
  world.server.queue_unit({0, 10'000});
  world.start();
  REQUIRE(world.run_until([&] { return world.engine->status().slots[0].finished > 5; }));
  world.kill();
  std::filesystem::create_directories(world.project / "identity");
  REQUIRE(state::mark_copy(world.files, {world.project}).ok());
  world.server.before = [](const io::HttpRequest& request) -> std::optional<Result<io::HttpReply>> {
    if (request.url.ends_with("/v1/project")) return std::nullopt;
    return problem_reply(401, "this host is not known here");
  };
  std::optional<SteadyTime> joined;
  world.join_again = [&]() -> Status {
    joined = world.clock.steady();
    return {};
  };
  world.start();
  REQUIRE(world.run_until(
      [&] { return world.engine->status().reason.find("does not know this host") != std::string::npos; },
      50ms));
  const SteadyTime told = world.clock.steady();
  REQUIRE(world.run_until([&] { return joined.has_value(); }, 50ms));
  CHECK(*joined - told > 1s);  // at random within 15 s: of this seed
  CHECK(*joined - told < 17s);
  CHECK(world.engine->status().units_in_hand == 1);
}

TEST_CASE("What is said to the host that this was before it joined anew is not believed") {
  World world;
  world.server.set_application(script_kernel(at_a_pace));
  world.server.queue_unit({0, 10'000});
  world.start();
  REQUIRE(world.run_until([&] { return world.engine->status().slots[0].finished > 5; }));
  state::Identity anew;  // as `gleaner-client join` stores it while the client runs
  anew.code = world.server.join_code();
  anew.host = {HostId{7}, "another token", {}};
  REQUIRE(state::save_identity(world.files, {world.project}, anew).ok());
  const int status = GENERATE(401, 403);
  int joined = 0;
  world.join_again = [&]() -> Status {
    ++joined;
    return {};
  };
  world.server.before = [status](const io::HttpRequest& request) -> std::optional<Result<io::HttpReply>> {
    if (request.url.ends_with("/v1/project")) return std::nullopt;
    return problem_reply(status, "the token of before");
  };
  world.run_for(30s, 200ms);
  CHECK_FALSE(world.engine->status().revoked);
  CHECK(joined == 0);
  CHECK_FALSE(std::filesystem::exists(world.project / "identity/revoked"));
  CHECK(world.engine->status().units_in_hand == 1);
}

TEST_CASE("A host that is not known joins again by itself, unless it was put out") {
  World world;
  world.server.set_application(script_kernel(at_a_pace));
  world.server.queue_unit({0, 10'000});
  int joined = 0;
  world.join_again = [&]() -> Status {
    if (++joined == 1) return Error{ErrorKind::unavailable, "cannot join: no valid answer"};
    return {};
  };
  SECTION("joins again") {
    world.start();
    REQUIRE(world.run_until([&] { return world.engine->status().slots[0].finished > 5; }));
    world.server.before = [](const io::HttpRequest& request) -> std::optional<Result<io::HttpReply>> {
      if (request.url.ends_with("/v1/project")) return std::nullopt;
      return problem_reply(401, "this host is not known here");
    };
    REQUIRE(world.run_until([&] { return joined == 1; }, 200ms));
    CHECK(world.engine->status().units_in_hand == 1);  // what is finished stays
    CHECK(world.gate.groups.empty());
    CHECK(says(world.engine->status().reason, "the server does not know this host"));
    CHECK_FALSE(world.engine->status().revoked);
    REQUIRE(world.run_until([&] { return joined == 2; }, 1s));
    CHECK(world.engine->moved());
  }
  SECTION("was put out") {
    std::filesystem::create_directories(world.project / "identity");
    REQUIRE(state::mark_revoked(world.files, {world.project}).ok());
    world.start();
    world.server.before = [](const io::HttpRequest& request) -> std::optional<Result<io::HttpReply>> {
      if (request.url.ends_with("/v1/project")) return std::nullopt;
      return problem_reply(401, "this host is not known here");
    };
    REQUIRE(world.run_until([&] { return world.engine->status().revoked; }, 200ms));
    CHECK(joined == 0);
  }
}

TEST_CASE("What another number of this host was given is delivered and not gone on with") {
  World world;
  world.server.set_application(script_kernel(at_a_pace));
  world.server.queue_unit({0, 10'000});
  world.start();
  REQUIRE(world.run_until([&] { return world.engine->status().slots[0].finished > 5; }));
  const auto finished = world.engine->status().slots[0].finished;
  world.kill();
  world.server.host = HostId{8};
  world.start();
  REQUIRE(world.run_until([&] { return world.engine->status().units_in_hand == 0; }, 200ms));
  CHECK(world.has_all({0, finished}));
  CHECK(world.server.failures.empty());
}

}  // namespace
}  // namespace gleaner::engine::testing
