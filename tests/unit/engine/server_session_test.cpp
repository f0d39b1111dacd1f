// The session with a server alone: when it speaks, and what it hands over.
#include "client/engine/server_session.h"

#include "client/engine/unit.h"
#include "shared/archive/bundle_archive.h"
#include "shared/protocol/codec.h"
#include "shared/protocol/error_status.h"
#include "tests/catch.h"
#include "tests/unit/engine/world.h"
#include "tests/unit/service/log_lines.h"

namespace gleaner::engine::testing {
namespace {
using namespace std::chrono_literals;

struct Line {
  World world;
  Services services{world.clock,   world.random,  world.files,       world.launcher,          world.gate,
                    world.machine, world.workers, {world.directory}, archives::unpack_bundle, world.settings};
  Trust trust{world.server.join_code().root_fingerprint, world.server.host};
  ServerSession session{services, world.workers, {world.server.join_code().base_url(), "token"}, trust};
  Alarm alarm;

  Exchange due(const Outgoing& outgoing) {
    alarm.reset();
    return session.due(outgoing, now(), alarm);
  }
  [[nodiscard]] SteadyTime now() const { return world.clock.steady(); }
  std::vector<SessionEvent> answers() {
    world.workers.deliver();
    return session.take_events();
  }
  void meet() {
    session.fetch_project(now());
    REQUIRE(answers().size() == 1);
  }
  protocol::WorkRequest work() const {
    protocol::WorkRequest request;
    request.slots = {{0, true}};
    request.platforms = {"x86_64-linux"};
    return request;
  }
};

constexpr Outgoing everything{true, true, true, true, true};

TEST_CASE("The most urgent exchange comes first, and one at a time") {
  Line line;
  CHECK(line.due({}) == Exchange::project);  // nothing can be believed before
  line.session.fetch_project(line.now());
  CHECK(line.session.busy());
  CHECK(line.due(everything) == Exchange::none);
  const auto events = line.answers();
  REQUIRE(events.size() == 1);
  CHECK(std::holds_alternative<ProjectRenewed>(events.front()));
  CHECK(line.trust.knows_project());
  CHECK(line.due(everything) == Exchange::failure);  // the document was fetched just now: no doubt helps
  CHECK(line.due({false, false, true, true, true}) == Exchange::work);
  CHECK(line.due({false, false, false, true, true}) == Exchange::heartbeat);
  CHECK(line.due({false, false, false, false, true}) == Exchange::commit);
  CHECK(line.due({}) == Exchange::none);
  CHECK(line.alarm.earliest() == SteadyTime::max());  // nothing in hand: nothing to wake up for
  line.world.clock.advance(6min);
  CHECK(line.due(everything) == Exchange::project);
}

TEST_CASE("Answers wait until they are taken, and nothing is called") {
  Line line;
  line.meet();
  line.world.server.queue_unit({0, 4});
  line.session.send(line.work());
  CHECK(line.session.asks(0, line.now()));
  CHECK(line.session.asked() == 1);
  line.world.workers.deliver();
  CHECK_FALSE(line.session.busy());
  CHECK(line.session.asked() == 0);
  const auto events = line.session.take_events();
  REQUIRE(events.size() == 1);
  const auto* answered = std::get_if<WorkAnswered>(&events.front());
  REQUIRE(answered != nullptr);
  REQUIRE(answered->reply.ok());
  CHECK(answered->reply->grants.size() == 1);
  CHECK(line.session.take_events().empty());
}

TEST_CASE("A heartbeat is due when the server said, and only with something to tell") {
  Line line;
  line.meet();
  protocol::UnitReport report;
  report.unit = UnitId{1};
  line.session.send(protocol::HeartbeatRequest{{report}, {}}, line.now());
  REQUIRE(line.answers().size() == 1);
  const Outgoing units{false, false, false, true, false};
  CHECK(line.due(units) == Exchange::none);
  const SteadyTime next = line.alarm.earliest();
  CHECK(next > line.now());
  line.world.clock.advance(next - line.now());
  CHECK(line.due({}) == Exchange::none);
  CHECK(line.due(units) == Exchange::heartbeat);
}

TEST_CASE("A request for a unit is a heartbeat, too; one with results alone puts off none") {
  Line line;
  line.meet();
  const Outgoing units{false, false, false, true, false};
  auto request = line.work();
  request.slots.clear();
  line.session.send(request);
  REQUIRE(line.answers().size() == 1);
  CHECK(line.due(units) == Exchange::heartbeat);
  line.session.send(line.work());
  REQUIRE(line.answers().size() == 1);
  CHECK(line.due(units) == Exchange::none);
}

TEST_CASE("A failed exchange is handed over, and silences the session for a while") {
  Line line;
  line.meet();
  line.world.server.before = [](const io::HttpRequest&) {
    return Result<io::HttpReply>(Error{ErrorKind::unavailable, "the cable is out"});
  };
  line.session.send(line.work());
  const auto events = line.answers();
  REQUIRE(events.size() == 1);
  CHECK_FALSE(std::get<WorkAnswered>(events.front()).reply.ok());
  CHECK(line.session.trouble().find("the cable is out") != std::string::npos);
  CHECK_FALSE(line.session.askable(line.now(), true));
  CHECK(line.due(everything) == Exchange::none);
  CHECK(line.alarm.earliest() == line.session.silent_until());
  line.session.forget_waits(line.now());
  CHECK(line.due({false, false, true, false, false}) == Exchange::work);
}

TEST_CASE("A lost connection is logged once, with the time of the next try") {
  const service::testing::LogLines log;
  Line line;
  line.meet();
  line.world.server.before = [](const io::HttpRequest&) {
    return Result<io::HttpReply>(Error{ErrorKind::unavailable, "the cable is out"});
  };
  line.session.send(line.work());
  CHECK(line.answers().size() == 1);
  const auto pause =
      std::chrono::ceil<std::chrono::seconds>(line.session.silent_until() - line.now()).count();
  REQUIRE(pause > 0);
  const std::string said = line.session.trouble() + "; next try in " + std::to_string(pause) + " s";
  CHECK(log.count("warning: " + line.world.server.join_code().base_url() + ": " + said) == 1);
  line.session.forget_waits(line.now());
  line.session.send(line.work());
  CHECK(line.answers().size() == 1);
  CHECK(log.count("next try in") == 1);
}

TEST_CASE("A server that does not know this host any more is believed once its document holds") {
  Line line;
  line.meet();
  std::optional<protocol::SignedStatement> document;  // instead of the project's
  line.world.server.before = [&](const io::HttpRequest& request) -> std::optional<Result<io::HttpReply>> {
    if (!request.url.ends_with("/v1/project")) return problem_reply(401, "unknown host");
    if (!document) return std::nullopt;
    io::HttpReply reply;
    reply.status = 200;
    reply.body = protocol::encode(*document);
    return reply;
  };
  FakeServer stranger;
  document = stranger.project();
  line.session.send(line.work());
  CHECK(line.answers().size() == 1);
  line.session.forget_waits(line.now());
  REQUIRE(line.due({false, false, true, false, false}) == Exchange::project);
  line.session.fetch_project(line.now());
  CHECK(line.answers().empty());  // not the project's server: nothing that it says is believed
  document.reset();
  line.session.forget_waits(line.now());
  REQUIRE(line.due({false, false, true, false, false}) == Exchange::project);
  line.session.fetch_project(line.now());
  CHECK(line.answers().size() == 1);
  line.session.send(line.work());
  const auto events = line.answers();
  REQUIRE(events.size() == 2);
  CHECK(std::holds_alternative<WorkAnswered>(events[0]));
  CHECK(std::holds_alternative<HostUnknown>(events[1]));
}

TEST_CASE("Each request of a run has a higher number; another run, or one that is told so, another id") {
  Line line;
  line.meet();
  auto& work = line.world.server.work;
  for (int i = 0; i < 3; ++i) {
    line.session.send(line.work());
    CHECK(line.answers().size() == 1);
  }
  REQUIRE(work.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(work[i].instance->id == work[0].instance->id);
    CHECK(work[i].instance->sequence == static_cast<std::int64_t>(i) + 1);
  }
  line.world.server.instance = protocol::InstanceOrder::renew;
  line.session.send(line.work());
  CHECK(line.answers().size() == 1);
  line.world.server.instance = std::nullopt;
  line.session.send(line.work());
  CHECK(line.answers().size() == 1);
  CHECK(work[3].instance->id == work[0].instance->id);
  CHECK(work[4].instance->id != work[0].instance->id);
  Line other;
  other.meet();
  other.session.send(other.work());
  CHECK(other.answers().size() == 1);
  CHECK(other.world.server.work[0].instance->id != work[0].instance->id);
  line.world.server.instance = protocol::InstanceOrder::part;
  line.session.send(line.work());
  const auto events = line.answers();
  REQUIRE(events.size() == 2);
  CHECK(std::holds_alternative<HostCopied>(events[0]));
}

TEST_CASE("A banned host stays what it is, says why, and asks again after an hour") {
  Line line;
  line.meet();
  line.world.server.before = [](const io::HttpRequest&) {
    io::HttpReply reply = problem_reply(403, "the network 192.0.2.0/24 is banned");
    reply.body = protocol::encode(
        protocol::problem_document({ErrorKind::banned, "the network 192.0.2.0/24 is banned (spam)"}));
    return Result<io::HttpReply>(reply);
  };
  line.session.send(line.work());
  const auto events = line.answers();
  REQUIRE(events.size() == 1);
  CHECK(std::get<WorkAnswered>(events.front()).reply.error().kind == ErrorKind::banned);
  CHECK(line.session.trouble().find("is banned (spam)") != std::string::npos);
  CHECK(line.session.silent_until() >= line.now() + std::chrono::hours{1});
  line.session.forget_waits(line.now());  // it was taken to another network
  CHECK(line.due({false, false, true, false, false}) == Exchange::work);
}

}  // namespace
}  // namespace gleaner::engine::testing
