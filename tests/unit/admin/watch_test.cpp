#include "tools/admin/watch.h"

#include "shared/protocol/codec.h"
#include "tests/catch.h"
#include "tests/unit/admin/test_world.h"

namespace gleaner::admin {
namespace {

std::string problem(protocol::ProblemState state, std::int64_t accepted) {
  protocol::ProblemInfo info;
  info.id = ProblemId{3};
  info.name = "picture";
  info.state = state;
  info.items = 10;
  info.accepted = accepted;
  return protocol::encode(info);
}

constexpr const char* call = "GET /v1/admin/problems/3";
using protocol::ProblemState;

std::size_t count_of(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE("watching ends with the problem", "[watch]") {
  TestWorld world;
  world.add_profile();
  world.server.on(call, 200, problem(ProblemState::running, 2));
  world.server.on(call, 200, problem(ProblemState::running, 2));
  SECTION("finished") {
    world.server.on(call, 200, problem(ProblemState::running, 7));
    world.server.on(call, 200, problem(ProblemState::finished, 10));
    CHECK(world.run({"problem", "watch", "3"}) == 0);
    CHECK(count_of(world.out, "\n") == 4);
    CHECK(world.out.find("7/10 items") != std::string::npos);
    CHECK(world.out.find("problem 3 (picture) finished") != std::string::npos);
    CHECK(world.waits == std::vector<Duration>(2, std::chrono::seconds{5}));
  }
  SECTION("failed") {
    world.server.on(call, 200, problem(ProblemState::failed, 7));
    CHECK(world.run({"problem", "watch", "3", "--interval", "2"}) == 1);
    CHECK(world.out.find("failed") != std::string::npos);
    CHECK(world.waits.front() == std::chrono::seconds{2});
  }
  SECTION("stopped") {
    protocol::ProblemInfo info;
    info.id = ProblemId{3};
    info.name = "picture";
    info.state = ProblemState::stopped;
    info.message = "stopped: raytrace@1.0.0: it fails on 3 of 4 hosts. Fix the application";
    world.server.on(call, 200, protocol::encode(info));
    CHECK(world.run({"problem", "watch", "3"}) == 1);
    CHECK(world.out.find("problem 3 (picture) is stopped: raytrace@1.0.0: it fails on 3 of 4 hosts. Fix") !=
          std::string::npos);
  }
  SECTION("cancelled, as JSON") {
    world.server.on(call, 200, problem(ProblemState::cancelled, 7));
    CHECK(world.run({"problem", "watch", "3", "--json"}) == 1);
    const auto info = protocol::decode<protocol::ProblemInfo>(world.out);  // one document, nothing else
    REQUIRE(info.ok());
    CHECK(info->state == ProblemState::cancelled);
    CHECK(world.error.find("was cancelled") != std::string::npos);
  }
}

TEST_CASE("failed rows of a table are told, with the command that runs them again", "[watch]") {
  TestWorld world;
  world.add_profile();
  protocol::ProblemInfo info;
  info.id = ProblemId{3};
  info.name = "study";
  info.state = ProblemState::finished;
  const std::string digest(64, 'a'), page_call = "GET /v1/admin/tables/" + digest + "?count=1";
  info.results = {{"table.csv", digest, 100, "text/csv"}, {"rows.tar", digest, 100, "application/x-tar"}};
  world.server.on(call, 200, protocol::encode(info));
  protocol::TablePage page;
  page.columns = {"row", "status"};
  page.rows = 200;
  const std::string sentence = "3 of 200 rows failed: gleaner-admin problem retry 3 --failed\n";
  const std::string verb = GENERATE("watch", "show");
  SECTION("some") {
    page.failed = 3;
    world.server.on(page_call, 200, protocol::encode(page));
    CHECK(world.run({"problem", verb, "3"}) == 0);
    CHECK(count_of(world.out, sentence) == 1);
    CHECK(world.run({"problem", verb, "3", "--json"}) == 0);
    CHECK(protocol::decode<protocol::ProblemInfo>(world.out).ok());
  }
  SECTION("none") {
    world.server.on(page_call, 200, protocol::encode(page));
    CHECK(world.run({"problem", verb, "3"}) == 0);
    CHECK(count_of(world.out, "rows failed") == 0);
  }
  SECTION("an older server does not tell") {
    CHECK(world.run({"problem", verb, "3"}) == 0);
  }
}

TEST_CASE("a terminal's lines are redrawn", "[watch]") {
  TestWorld world;
  world.add_profile();
  world.out_display.terminal = true;
  world.server.on(call, 200, problem(ProblemState::running, 2));
  world.server.on(call, 200, problem(ProblemState::running, 2));
  world.server.on(call, 200, problem(ProblemState::finished, 10));
  CHECK(world.run({"problem", "watch", "3"}) == 0);
  CHECK(count_of(world.out, "\x1b[1A\x1b[2K") ==
        3);  // the second drawing replaces the three lines of the first
  CHECK(world.waits.front() == std::chrono::milliseconds{500});
}

TEST_CASE("a server that restarts is waited for, but not for ever", "[watch]") {
  TestWorld world;
  world.add_profile();
  world.server.on(call, 200, problem(ProblemState::running, 2));
  world.server.on(call, 200, problem(ProblemState::running, 2));
  SECTION("it comes back") {
    for (int i = 0; i < 10; ++i) world.server.fail(call, {ErrorKind::unavailable, "refused"});
    world.server.on(call, 200, problem(ProblemState::finished, 10));
    CHECK(world.run({"problem", "watch", "3"}) == 0);
    CHECK(world.out.find("no answer from the server") != std::string::npos);
  }
  SECTION("it does not") {
    world.server.fail(call, {ErrorKind::unavailable, "refused"});
    const Timestamp began = world.clock.now();
    CHECK(world.run({"problem", "watch", "3"}) == 3);
    CHECK(world.clock.now() - began > std::chrono::minutes{5});
    CHECK(world.clock.now() - began < std::chrono::minutes{6});
  }
  SECTION("the problem is deleted meanwhile") {
    world.server.on(call, 404, "");
    CHECK(world.run({"problem", "watch", "3"}) == 4);
  }
}

TEST_CASE("Control-C ends the watching, not the problem", "[watch]") {
  TestWorld world;
  world.add_profile();
  world.server.on(call, 200, problem(ProblemState::running, 2));
  world.interrupt_after_waits = 3;
  CHECK(world.run({"problem", "watch", "3"}) == 1);
  CHECK(world.error.find("the problem continues") != std::string::npos);
  for (const auto& each : world.server.calls()) CHECK(each.call == call);
}

}  // namespace gleaner::admin
