#include <algorithm>

#include <thread>
#include "client/engine/control.h"

#include "tests/catch.h"
#include "tests/unit/engine/world.h"

namespace gleaner::engine::testing {
namespace {
using namespace std::chrono_literals;

TEST_CASE("A unit goes from grant to signed acknowledgement, and nothing of it is left") {
  World world;
  world.server.queue_unit({10, 30});
  world.start();
  REQUIRE(world.run_until([&] { return world.has_all({10, 30}) && world.nothing_in_hand(); }));
  CHECK(world.launcher.started == 1);
  CHECK(world.server.failures.empty());
  CHECK(world.server.finished_units == std::set<std::int64_t>{1});
  CHECK(world.engine->status().items_accepted == 20);
}

TEST_CASE(
    "One kernel process serves unit after unit, and small last segments are piggybacked on work requests") {
  World world;
  for (int i = 0; i < 10; ++i) world.server.queue_unit({i * 5, i * 5 + 5});
  world.start();
  REQUIRE(world.run_until([&] { return world.has_all({0, 50}) && world.nothing_in_hand(); }));
  CHECK(world.launcher.started == 1);
  // A cycle is one round trip: nearly all commits came with a request for a unit.
  const auto alone = std::ranges::count_if(world.server.work, [](const protocol::WorkRequest& request) {
    return request.slots.empty() && !request.commits.empty();
  });
  CHECK(alone <= 2);
  // And the bundle was fetched once.
  CHECK(std::count(world.server.requests.begin(), world.server.requests.end(),
                   "GET /v1/blobs/" + world.server.archive_digest) == 1);
}

TEST_CASE(
    "What a problem's grants have in common is told once, and again only to a client that has lost it") {
  World world;
  for (int i = 0; i < 4; ++i) world.server.queue_unit({i * 5, i * 5 + 5});
  world.start();
  REQUIRE(world.run_until([&] { return world.has_all({0, 20}) && world.nothing_in_hand(); }));
  CHECK(world.server.work.front().contexts == std::vector<std::string>{});
  REQUIRE(world.server.work.back().contexts);
  CHECK(world.server.work.back().contexts->size() == 1);
  world.server.queue_unit({20, 25});
  world.kill();
  world.start();
  REQUIRE(world.run_until([&] { return world.has_all({20, 25}) && world.nothing_in_hand(); }));
  CHECK(world.server.failures.empty());
}

TEST_CASE("A unit that named its context goes on after a restart, and the context is known with it") {
  World world;
  world.server.set_application(script_kernel(at_a_pace));
  world.server.queue_unit({0, 5});
  world.start();
  REQUIRE(world.run_until([&] { return world.launcher.started == 1; }));
  const std::size_t before = world.server.work.size();
  world.kill();
  world.start();
  world.server.queue_unit({5, 10});
  REQUIRE(world.run_until([&] { return world.has_all({0, 10}) && world.nothing_in_hand(); }));
  REQUIRE(world.server.work.size() > before);
  CHECK(world.server.work[before].contexts->size() == 1);
}

TEST_CASE("A server that says everything in each grant is understood") {
  World world;
  world.server.says_once = false;
  for (int i = 0; i < 2; ++i) world.server.queue_unit({i * 5, i * 5 + 5});
  world.start();
  REQUIRE(world.run_until([&] { return world.has_all({0, 10}) && world.nothing_in_hand(); }));
  CHECK(world.server.work.back().contexts == std::vector<std::string>{});
}

TEST_CASE("Several slots compute at once, each with a kernel of its own; a request asks for all of them") {
  World world(3);
  for (int i = 0; i < 3; ++i) world.server.queue_unit({i * 10, i * 10 + 10});
  world.start();
  REQUIRE(world.run_until([&] { return world.has_all({0, 30}) && world.nothing_in_hand(); }));
  CHECK(world.launcher.started == 3);
  CHECK(world.server.work.front().slots.size() == 3);
}

TEST_CASE("All problems that are computed are named, and what was computed is counted for the day") {
  World world(2);
  world.server.names_units = true;
  world.server.set_application(script_kernel(at_a_pace));
  for (int i = 0; i < 2; ++i) world.server.queue_unit({i * 5, i * 5 + 5});
  world.start();
  REQUIRE(world.run_until([&] {
    const auto slots = world.engine->status().slots;
    return slots[0].state == "running" && slots[1].state == "running";
  }));
  const std::string reason = world.engine->status().reason;
  CAPTURE(reason);
  CHECK((reason.starts_with("computing words-0 and words-5 on 2 of 2 cores") ||
         reason.starts_with("computing words-5 and words-0 on 2 of 2 cores")));
  REQUIRE(world.run_until([&] { return world.has_all({0, 10}) && world.nothing_in_hand(); }));
  const auto seconds = [&] {
    double sum = 0;
    for (const auto& day : world.engine->status().days) sum += day.core_seconds;
    return sum;
  };
  const double before = seconds();
  CHECK(before > 0);
  // It is kept over an orderly end.
  world.engine->stop();
  REQUIRE(world.run_until([&] { return world.engine->settled(); }));
  world.kill();
  world.start();
  CHECK(seconds() == Approx(before));
}

TEST_CASE("The proposal carries benchmark and WIS size once the slowest host is known") {
  World world;
  world.server.queue_unit({0, 3});
  world.server.queue_unit({3, 6});
  world.start();
  REQUIRE(world.run_until([&] { return world.has_all({0, 6}); }));
  CHECK(world.server.work.front().proposal.items == 0);
  CHECK(world.server.work.back().proposal.items == 10);  // 1000 MFLOP/s against 100
  CHECK(world.server.work.back().proposal.performance == 1000);
}

TEST_CASE("What was measured of the link is told when it is new, and not again and again") {
  World world;
  for (int i = 0; i < 4; ++i) world.server.queue_unit({i * 3, i * 3 + 3});
  world.link->downloaded(1 << 20, 1s);
  world.start();
  REQUIRE(world.run_until([&] { return world.has_all({0, 12}); }));
  REQUIRE(world.server.work.size() >= 3);
  REQUIRE(world.server.work.front().speeds);
  CHECK(world.server.work.front().speeds->download_bytes_per_second == 1 << 20);
  CHECK(world.server.work.front().speeds->upload_bytes_per_second == 0);
  CHECK_FALSE(world.server.work.back().speeds);
  world.link->uploaded(1 << 20, 2s);
  world.server.queue_unit({12, 15});
  REQUIRE(world.run_until([&] { return world.has_all({0, 15}); }));
  std::vector<protocol::HostSpeeds> told;
  for (const auto& request : world.server.work)
    if (request.speeds) told.push_back(*request.speeds);
  REQUIRE(told.size() == 2);
  CHECK(told.back().download_bytes_per_second == 1 << 20);
  CHECK(told.back().upload_bytes_per_second == 1 << 19);
}

TEST_CASE("A server without work is asked again when it said, not before") {
  World world;
  world.server.retry_after = 30;
  world.start();
  REQUIRE(world.run_until([&] { return world.server.work.size() == 1; }));
  world.run_for(29s);
  CHECK(world.server.work.size() == 1);
  world.run_for(5s);
  CHECK(world.server.work.size() == 2);
  CHECK(world.engine->status().reason.find("no work") != std::string::npos);
}

TEST_CASE("What a busy slot was refused, it is given when it falls idle") {
  World world;
  world.server.set_application(script_kernel(at_a_pace));
  world.server.retry_after = 300;
  world.server.queue_unit({0, 60});
  // A far server: the slot asks for its next unit as soon as it knows its rate.
  world.workers.stalled = true;
  world.start();
  world.run_for(8s);
  world.workers.stalled = false;
  const auto asked_ahead = [&] {
    return !world.server.work.empty() && !world.server.work.back().slots[0].urgent;
  };
  REQUIRE(world.run_until(asked_ahead));
  CHECK_FALSE(world.has_all({0, 60}));
  world.server.queue_unit({60, 70});
  const SteadyTime refused = world.clock.steady();
  REQUIRE(world.run_until([&] { return world.has_all({0, 70}); }));
  CHECK(world.clock.steady() - refused < 200s);
}

TEST_CASE("An idle engine sleeps until the server may be asked again") {
  World world;
  world.server.retry_after = 300;
  world.start();
  REQUIRE(world.run_until([&] { return world.server.work.size() == 1; }));
  world.run_for(61s);  // the last heartbeat that finds nothing to say
  CHECK(world.engine->wait_time() > 30s);
  CHECK(world.engine->waitables().empty());
}

TEST_CASE("A transport failure is retried with back-off, and Retry-After is obeyed") {
  World world;
  world.server.queue_unit({0, 5});
  bool broken = true;
  world.server.before = [&](const io::HttpRequest&) -> std::optional<Result<io::HttpReply>> {
    if (!broken) return std::nullopt;
    return Error{ErrorKind::unavailable, "connection refused"};
  };
  world.start();
  world.run_for(60s, 100ms);
  const std::size_t tries = world.server.requests.size();
  CHECK(tries >= 3);
  CHECK(tries <= 40);  // full jitter doubles up to a minute
  CHECK(world.engine->status().reason.find("connection refused") != std::string::npos);
  broken = false;
  REQUIRE(world.run_until([&] { return world.has_all({0, 5}); }, 200ms));

  world.server.before = [&](const io::HttpRequest&) -> std::optional<Result<io::HttpReply>> {
    io::HttpReply reply = problem_reply(503, "busy");
    reply.headers["retry-after"] = "120";
    return reply;
  };
  const std::size_t before = world.server.requests.size();
  REQUIRE(world.run_until([&] { return world.server.requests.size() == before + 1; }, 100ms));
  world.run_for(119s, 200ms);
  CHECK(world.server.requests.size() == before + 1);
}

TEST_CASE("A revoked host stops computing and says what to do") {
  World world;
  world.server.set_application(script_kernel(at_a_pace));
  world.server.queue_unit({0, 10'000});
  world.server.commit_seconds = 1;
  world.start();
  REQUIRE(world.run_until([&] { return world.engine->status().slots[0].state == "running"; }));
  world.server.before = [](const io::HttpRequest& request) -> std::optional<Result<io::HttpReply>> {
    if (request.url.ends_with("/v1/project")) return std::nullopt;
    return problem_reply(403, "this host is served no more: revoked by the administrator");
  };
  REQUIRE(world.run_until([&] { return world.engine->status().revoked; }, 200ms));
  CHECK(world.gate.groups.empty());
  CHECK(world.engine->status().reason.find("has removed this computer") != std::string::npos);
  CHECK(std::filesystem::exists(world.project / "identity/revoked"));
  const std::size_t requests = world.server.requests.size();
  world.run_for(600s, 1s);
  CHECK(world.server.requests.size() == requests);
}

TEST_CASE("A proxy's 403 page is not a revocation") {
  World world;
  world.server.queue_unit({0, 5});
  int pages = 3;
  world.server.before = [&](const io::HttpRequest&) -> std::optional<Result<io::HttpReply>> {
    if (pages-- <= 0) return std::nullopt;
    io::HttpReply reply;
    reply.status = 403;
    reply.body = "<html>Please log in</html>";
    return reply;
  };
  world.start();
  REQUIRE(world.run_until([&] { return world.has_all({0, 5}); }, 200ms));
  CHECK_FALSE(world.engine->status().revoked);
}

TEST_CASE("Pause holds kernels and asks for nothing; resume goes on; the choice survives a restart") {
  World world;
  world.server.set_application(script_kernel(at_a_pace));
  world.server.queue_unit({0, 200});
  world.start();
  REQUIRE(world.run_until([&] { return world.engine->status().slots[0].finished > 3; }));
  REQUIRE(world.engine->pause(std::nullopt).ok());
  world.engine->tick();
  CHECK(world.gate.paused.size() == 1);
  REQUIRE(world.run_until([&] {
    return !world.server.heartbeats.empty() && !world.server.heartbeats.back().units.empty() &&
           world.server.heartbeats.back().units[0].state == protocol::RunState::paused;
  }));
  CHECK(world.server.heartbeats.back().units[0].reason.find("its owner paused it") != std::string::npos);
  world.kill();
  world.gate = {};
  world.start();
  world.run_for(5s);
  CHECK(world.gate.groups.empty());
  CHECK(world.engine->status().mode == "pause");
  REQUIRE(world.engine->resume().ok());
  REQUIRE(world.run_until([&] { return world.has_all({0, 200}); }));
}

TEST_CASE("A pause at the saved point lets the item end, starts nothing more, and then is a pause") {
  World world;
  world.server.set_application(script_kernel(at_a_pace));
  world.server.queue_unit({0, 200});
  world.start();
  REQUIRE(world.run_until([&] { return world.engine->status().slots[0].finished > 3; }));
  // The kernel had leave for one item more: it is taken in before the pause, so that no saved point is near.
  for (int i = 0; i < 20; ++i) {
    std::this_thread::sleep_for(5ms);
    world.engine->tick();
  }
  const auto before = world.engine->status().slots[0].finished;
  REQUIRE(world.engine->pause(std::nullopt, Engine::PauseAt::saved).ok());
  world.engine->tick();
  CHECK(world.gate.paused.empty());
  CHECK(world.engine->status().reason.find("stops at its next saved point") != std::string::npos);
  REQUIRE(world.run_until([&] { return !world.gate.paused.empty(); }));
  CHECK(world.engine->status().slots[0].finished > before);
  CHECK(world.engine->status().mode == "pause");
  REQUIRE(world.engine->resume().ok());
  REQUIRE(world.run_until([&] { return world.has_all({0, 200}); }));
}

TEST_CASE("A pause of some length ends by itself, also if the calendar jumps") {
  World world;
  world.start();
  REQUIRE(world.engine->pause(Duration{60s}).ok());
  world.run_for(30s, 1s);
  CHECK(world.engine->status().mode == "pause");
  world.run_for(35s, 1s);
  CHECK(world.engine->status().mode == "run");
  REQUIRE(world.engine->pause(Duration{60s}).ok());
  world.run_for(30s, 1s);
  world.clock.jump_calendar(-24h);
  world.run_for(25s, 1s);
  CHECK(world.engine->status().mode == "pause");
  world.run_for(10s, 1s);
  CHECK(world.engine->status().mode == "run");
}

TEST_CASE("Finish completes what is in hand and takes no more") {
  World world;
  world.server.set_application(script_kernel(at_a_pace));
  for (int i = 0; i < 4; ++i) world.server.queue_unit({i * 20, i * 20 + 20});
  world.start();
  REQUIRE(world.run_until([&] { return world.engine->status().slots[0].finished > 2; }));
  REQUIRE(world.engine->finish().ok());
  REQUIRE(world.run_until([&] { return world.nothing_in_hand(); }));
  CHECK(world.has_all({0, 20}));
  CHECK(world.server.items.size() <= 40);
  CHECK(world.engine->status().reason.find("finish") != std::string::npos);
}

TEST_CASE("Stopping delivers what is finished, and the next run goes on from there") {
  World world;
  world.server.set_application(script_kernel(at_a_pace));
  world.server.queue_unit({0, 60});
  world.start();
  REQUIRE(world.run_until([&] { return world.engine->status().slots[0].finished > 10; }));
  world.engine->stop();
  REQUIRE(world.run_until([&] { return world.engine->settled(); }));
  CHECK(world.server.items.size() > 10);
  CHECK(world.gate.groups.empty());
  world.kill();
  world.start();
  REQUIRE(world.run_until([&] { return world.has_all({0, 60}) && world.nothing_in_hand(); }));
}

TEST_CASE("The control protocol answers garbage with a sentence, and commands with what they did") {
  World world;
  world.start();
  Random random(99);
  for (int i = 0; i < 3000; ++i) {
    std::string line;
    for (std::int64_t n = random.between(0, 60); n > 0; --n)
      line.push_back(static_cast<char>(random.below(256)));
    const ControlOutcome outcome = handle_control(*world.engine, line);
    CHECK(outcome.reply.find("\"ok\":false") != std::string::npos);
    CHECK_FALSE(outcome.quit);
  }
  for (const std::string line :
       {R"({"version":2,"command":"quit"})", R"({"version":1})", R"({"version":1,"command":["quit"]})",
        R"({"version":1,"command":"pause","seconds":-1})",
        R"({"version":1,"command":"pause","seconds":1e300})", R"({"version":1,"command":"dance"})"})
    CHECK(handle_control(*world.engine, line).reply.find("\"ok\":false") != std::string::npos);
  CHECK(handle_control(*world.engine, std::string(5000, '[')).reply.find("too long") != std::string::npos);
  CHECK(handle_control(*world.engine, R"({"version":1,"command":"status"})").reply.find("\"slots\"") !=
        std::string::npos);
  CHECK(handle_control(*world.engine, R"({"version":1,"command":"quit"})").quit);
}

}  // namespace
}  // namespace gleaner::engine::testing
