// Results that a relay holds: kept until the project acknowledges them, whatever becomes of relay and client.
#include <spdlog/sinks/ringbuffer_sink.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "shared/crypto/relay_chain.h"
#include "shared/crypto/statements.h"
#include "shared/protocol/codec.h"
#include "tests/catch.h"
#include "tests/unit/engine/fake_relay.h"
#include "tests/unit/engine/world.h"

namespace gleaner::engine::testing {
namespace {
using namespace std::chrono_literals;

// A client that has joined a relay, which holds what it is given.
struct Relayed {
  World world;
  FakeRelay relay{world.server, HostId{90}};

  Relayed() {
    world.relay = relay.signed_certificate();
    world.server.relay = world.relay;
    world.server.tls_key = relay.certificate.tls_key;
    world.server.holds = true;
    world.server.commit_seconds = 1;
    world.server.set_application(script_kernel(at_a_pace));
  }
  // Computes 100 items, of which the relay then has all.
  void compute() {
    world.server.queue_granted(relay.lease({0, 200}, {50, 150}));
    world.start();
    REQUIRE(world.run_until([&] { return world.has_all({50, 150}); }));
    world.run_for(20s, 500ms);
  }
  [[nodiscard]] std::size_t sent() const { return world.server.commits.size(); }
};

TEST_CASE("What a relay holds stays until the project's acknowledgements come, in any order, by any answer") {
  Relayed relayed;
  World& world = relayed.world;
  relayed.compute();
  const std::size_t sent = relayed.sent();
  CHECK(sent >= 2);
  CHECK(world.engine->status().outbox == 1);
  world.run_for(10min, 10s);
  CHECK(relayed.sent() == sent);  // the relay has it
  CHECK(std::filesystem::exists(world.project / "units/1001/journal"));
  std::reverse(world.server.to_tell.begin(), world.server.to_tell.end());
  const auto last = world.server.to_tell.back();
  world.server.to_tell.pop_back();
  world.server.tells = true;
  world.run_for(1min, 1s);
  CHECK_FALSE(world.nothing_in_hand());  // all but one
  world.server.to_tell.push_back(last);
  REQUIRE(world.run_until([&] { return world.nothing_in_hand(); }, 1s));
  CHECK(relayed.sent() == sent);
  CHECK(world.has_all({50, 150}));
  CHECK(world.engine->status().commits_accepted == static_cast<std::int64_t>(sent));
}

TEST_CASE("An answer that a relay tells again is no news, and no line of the log") {
  const auto before = spdlog::default_logger();
  const auto memory = std::make_shared<spdlog::sinks::ringbuffer_sink_mt>(1000);
  spdlog::set_default_logger(std::make_shared<spdlog::logger>("test", memory));
  Relayed relayed;
  World& world = relayed.world;
  relayed.compute();
  world.server.to_tell.pop_back();  // the unit stays
  world.server.tells = true;
  for (const auto told = world.server.to_tell; const int seconds : {60, 60, 60}) {
    world.server.to_tell = told;
    world.run_for(std::chrono::seconds{seconds}, 1s);
  }
  CHECK_FALSE(world.nothing_in_hand());
  spdlog::set_default_logger(before);
  for (const std::string& line : memory->last_formatted()) {
    INFO(line);
    CHECK(line.find("acknowledgement") == std::string::npos);
  }
}

TEST_CASE("Every result under a relay goes with the word of the host that computed it") {
  Relayed relayed;
  World& world = relayed.world;
  relayed.compute();
  const auto key = state::load_or_make_key(world.files, {world.project}).value();
  for (const protocol::CommitRequest& commit : world.server.commits) {
    REQUIRE(commit.delivery);
    CHECK(crypto::check_signature(*commit.delivery, protocol::StatementType::delivery).ok());
    CHECK(commit.delivery->key == key.public_key());
    const auto delivery = protocol::decode<protocol::Delivery>(commit.delivery->payload).value();
    CHECK(delivery.project == world.server.project_id());
    CHECK(delivery.host == world.server.host);
    CHECK(delivery.unit == commit.unit);
    CHECK(delivery.problem == ProblemId{3});
    CHECK(delivery.range == commit.range);
    CHECK(delivery.digest == commit.digest);
    CHECK(delivery.bytes == commit.bytes);
  }
}

TEST_CASE("A kernel that fails under a relay is reported with the word of its host, once") {
  Relayed relayed;
  World& world = relayed.world;
  world.server.set_application(script_kernel("[ $i -ge 52 ] && exit 3"));
  world.server.tells = true;
  world.server.queue_granted(relayed.relay.lease({0, 200}, {50, 150}));
  std::vector<std::string> unheard;
  world.server.before = [&](const io::HttpRequest& request) -> std::optional<Result<io::HttpReply>> {
    if (request.url.find("/v1/failure") == std::string::npos || unheard.size() == 2) return {};
    unheard.push_back(request.body);
    return Result<io::HttpReply>(Error{ErrorKind::unavailable, "the answer was lost"});
  };
  world.start();
  REQUIRE(world.run_until([&] { return !world.server.failures.empty(); }, 500ms));
  const auto& report = world.server.failures.front();
  REQUIRE(report.statement);
  REQUIRE(unheard.size() == 2);
  CHECK(unheard[0] == unheard[1]);
  CHECK(unheard[1] == protocol::encode(report));
  const auto key = state::load_or_make_key(world.files, {world.project}).value();
  CHECK(report.statement->key == key.public_key());
  CHECK(crypto::check_signature(*report.statement, protocol::StatementType::failure).ok());
  const auto said = protocol::decode<protocol::Failure>(report.statement->payload).value();
  CHECK(said.project == world.server.project_id());
  CHECK(said.host == world.server.host);
  CHECK(said.unit == report.unit);
  CHECK(said.problem == ProblemId{3});
  CHECK(said.kind == report.kind);
  CHECK(said.item == report.item);
  CHECK(said.message == report.message);
  CHECK(said.at > Timestamp{});
  CHECK(said.at < world.clock.now());
}

TEST_CASE("Without a relay there is no such word, and nothing is held for a server's saying so") {
  Relayed relayed;
  World& world = relayed.world;
  world.relay.reset();
  world.server.queue_unit({0, 8});
  world.start();
  REQUIRE(world.run_until([&] { return relayed.sent() >= 1; }, 1s));
  CHECK_FALSE(world.server.commits[0].delivery);
  world.server.holds = false;
  REQUIRE(world.run_until([&] { return world.nothing_in_hand(); }, 5s));  // it was sent again
  CHECK(relayed.sent() >= 2);
}

TEST_CASE("What a relay holds is held after a kill, too, and sent again ever later") {
  Relayed relayed;
  World& world = relayed.world;
  relayed.compute();
  const std::size_t sent = relayed.sent();
  world.kill();
  SECTION("the same relay") {
    world.start();
    world.run_for(10min, 10s);
    CHECK(relayed.sent() == sent);
    // After .25, .75, 1.75 and 3.75 hours.
    world.run_for(5h, 30s);
    CHECK(relayed.sent() == 5 * sent);
    world.server.tells = true;
    REQUIRE(world.run_until([&] { return world.nothing_in_hand(); }, 1s));
    CHECK(relayed.sent() == 5 * sent);
  }
  SECTION("which has lost it, and everything that it would have told") {
    world.server.to_tell.clear();
    world.server.forget();
    world.server.times.clear();
    world.start();
    world.run_for(20min, 30s);
    CHECK(relayed.sent() == 2 * sent);
    CHECK(world.has_all({50, 150}));
    world.kill();
    world.start();
    world.run_for(10min, 30s);
    CHECK(relayed.sent() == 2 * sent);
    world.server.tells = true;
    REQUIRE(world.run_until([&] { return world.nothing_in_hand(); }, 1s));
  }
  SECTION("another relay") {
    FakeRelay other(world.server, HostId{91});
    world.relay = other.signed_certificate();
    world.server.relay = world.relay;
    world.server.to_tell.clear();
    world.start();
    world.run_for(5min, 1s);
    CHECK(relayed.sent() == 2 * sent);
    world.server.tells = true;
    REQUIRE(world.run_until([&] { return world.nothing_in_hand(); }, 1s));
  }
}

TEST_CASE("To the project itself goes what a relay gave, with what stands behind it") {
  Relayed relayed;
  World& world = relayed.world;
  relayed.compute();
  const std::size_t sent = relayed.sent(), before = world.server.work.size();
  world.kill();
  world.relay.reset();
  world.server.relay.reset();
  world.server.holds = false;
  world.server.to_tell.clear();
  world.start();
  REQUIRE(world.run_until([&] { return world.nothing_in_hand(); }, 500ms));
  REQUIRE(relayed.sent() == 2 * sent);
  for (std::size_t i = before; i < world.server.work.size(); ++i)  // each alone
    CHECK(world.server.work[i].commits.size() <= 1);
  for (std::size_t i = sent; i < 2 * sent; ++i) {
    const protocol::CommitRequest& commit = world.server.commits[i];
    CHECK_FALSE(world.server.commits[i - sent].given);
    REQUIRE(commit.delivery);
    REQUIRE(commit.given);
    const auto grant = crypto::read_relayed_grant(commit.given->grant, commit.given->lease);
    REQUIRE(grant.ok());
    CHECK(grant->unit == commit.unit);
    CHECK(grant->range == Range{50, 150});
  }
}

// Its code says where to go. Tests count in days.
struct Left {
  Relayed relayed;
  World& world = relayed.world;
  int moves = 0;
  Status moved = {};

  Left() {
    world.move = [this] {
      ++moves;
      return moved;
    };
    relayed.compute();
  }
  void fall_silent(ErrorKind kind) {
    world.server.before = [kind](const io::HttpRequest&) -> std::optional<Result<io::HttpReply>> {
      return Result<io::HttpReply>(Error{kind, "for the test"});
    };
  }
  [[nodiscard]] std::string place() const { return world.engine->status().projects.front().place; }
};

TEST_CASE("A relay that is gone for good is left for the place in its code, when that takes this host") {
  Left left;
  World& world = left.world;
  CHECK(left.place().empty());
  left.fall_silent(ErrorKind::unavailable);
  left.moved = Error{ErrorKind::unavailable, "not there either"};
  world.run_for(40h, 5min);
  CHECK(left.place().find("has not answered since") != std::string::npos);
  CHECK(left.place().find("https://project.example.org:443") != std::string::npos);
  world.kill();
  world.start();
  world.run_for(31h, 5min);
  CHECK(left.moves == 0);
  const std::size_t asked = world.server.requests.size();
  world.run_for(6h, 5min);
  CHECK(left.moves >= 3);
  CHECK(left.moves <= 5);
  CHECK(world.server.requests.size() > asked + 5);  // it is tried as before
  CHECK_FALSE(world.engine->moved());
  left.moved = {};
  REQUIRE(world.run_until([&] { return world.engine->moved(); }, 1min));
  const int moves = left.moves;
  const std::size_t told = world.server.requests.size();
  world.run_for(5h, 5min);
  CHECK(left.moves == moves);
  CHECK(world.server.requests.size() == told);
  world.engine->stop();
  CHECK(world.engine->settled());
  CHECK(std::filesystem::exists(world.project / "units/1001/journal"));
}

TEST_CASE("A relay that answers again, or answers that it does not want this host, is not gone") {
  Left left;
  World& world = left.world;
  SECTION("it answers") {
    left.fall_silent(GENERATE(ErrorKind::unavailable, ErrorKind::untrusted));
    world.run_for(71h, 5min);
    CHECK(std::filesystem::exists(world.project / "identity/unheard"));
    world.server.before = {};
    REQUIRE(world.run_until([&] { return left.place().empty(); }, 1min));
    CHECK_FALSE(std::filesystem::exists(world.project / "identity/unheard"));
    left.fall_silent(ErrorKind::unavailable);
    world.run_for(71h, 5min);
  }
  SECTION("it refuses") {
    left.fall_silent(GENERATE(ErrorKind::forbidden, ErrorKind::banned, ErrorKind::invalid));
    world.run_for(100h, 5min);
    CHECK(left.place().empty());
  }
  CHECK(left.moves == 0);
}

TEST_CASE("A refused part of what is held takes nothing else of it along") {
  Relayed relayed;
  World& world = relayed.world;
  relayed.compute();
  const std::size_t sent = relayed.sent();
  auto refusal = protocol::decode<protocol::Acknowledgement>(world.server.to_tell.front().payload).value();
  refusal.status = protocol::CommitStatus::refused;
  refusal.reason = "for the test";
  auto others = std::exchange(world.server.to_tell, {});
  others.pop_front();
  world.server.to_tell = {
      world.server.sign(protocol::StatementType::acknowledgement, protocol::encode(refusal))};
  world.server.tells = true;
  REQUIRE(world.run_until([&] { return world.engine->status().commits_refused == 1; }, 1s));
  world.run_for(1min, 1s);
  CHECK_FALSE(world.nothing_in_hand());
  world.server.to_tell = others;
  REQUIRE(world.run_until([&] { return world.nothing_in_hand(); }, 1s));
  CHECK(world.engine->status().commits_accepted == static_cast<std::int64_t>(sent - 1));
}

TEST_CASE("A forged acknowledgement of what a relay holds deletes nothing") {
  Relayed relayed;
  World& world = relayed.world;
  relayed.compute();
  const auto genuine = std::exchange(world.server.to_tell, {});
  world.server.tells = true;
  for (auto forged : genuine) {
    forged =
        crypto::sign_statement(protocol::StatementType::acknowledgement, forged.payload, relayed.relay.key);
    world.server.to_tell.push_back(forged);
  }
  world.run_for(10min, 1s);
  CHECK_FALSE(world.nothing_in_hand());
  world.server.to_tell = genuine;
  REQUIRE(world.run_until([&] { return world.nothing_in_hand(); }, 1s));
}

}  // namespace
}  // namespace gleaner::engine::testing
