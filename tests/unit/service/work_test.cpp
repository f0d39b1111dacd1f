// A host asks for work, reports, fails: what it gets, what it is told, and that nothing of it is half.
#include "server/service/work/dispatch.h"

#include <map>

#include "shared/crypto/statements.h"
#include "shared/io/compression.h"
#include "shared/protocol/codec.h"
#include "tests/unit/service/world.h"

using namespace gleaner;
using namespace gleaner::service::testing;
using protocol::UnitAction;

namespace {

Result<protocol::HeartbeatReply> beat(World& world, HostId host, const protocol::HeartbeatRequest& request) {
  return World::wait<protocol::HeartbeatReply>(
      [&](auto done) { world.service().work().heartbeat(host, request, std::move(done)); });
}

Status fail(World& world, HostId host, const protocol::FailureReport& report) {
  return World::wait_done(
      [&](service::StatusDone done) { world.service().work().failure(host, report, std::move(done)); });
}

protocol::UnitReport report_of(const protocol::Grant& grant) {
  protocol::UnitReport report;
  report.unit = grant.unit;
  report.finished = grant.range.begin;
  return report;
}

}  // namespace

TEST_CASE("each idle slot gets a unit, and no item twice") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(40);
  const auto grants = world.grants(host.id, 3);
  REQUIRE(grants.size() == 3);
  RangeSet seen;
  for (const auto& grant : grants) {
    CHECK(grant.host == host.id);
    CHECK(grant.problem == problem);
    CHECK(!grant.range.empty());
    CHECK(!seen.overlaps(grant.range));
    CHECK(grant.deadline > world.clock().now());
    CHECK(!grant.reason.empty());
    seen.add(grant.range);
  }
  CHECK(world.show(problem).handed_out == seen.total());
  CHECK(world.show(problem).hosts == 1);
  CHECK(says(world.memory(), "open 1 of 1"));
}

TEST_CASE("what a problem's grants have in common is told once to a host that keeps it") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(40);
  ManagerOptions other;
  other.version = "1.0.1";
  other.compatible_with = "1.0.0";
  world.add_application(other);
  auto request = world.work_request(2);
  const auto whole = must(world.work(host.id, request)).grants;
  REQUIRE(whole.size() == 2);
  const auto old = must(crypto::read_grant(whole[0]));
  CHECK(!old.context);

  request.contexts.emplace();
  const auto first = must(world.work(host.id, request)).grants;
  REQUIRE(first.size() == 2);
  REQUIRE(first[0].context);
  CHECK(!first[1].context);  // said once in the reply
  const auto grant = must(crypto::read_grant(first[0]));
  CHECK(grant.context == crypto::sha256_hex(*first[0].context));
  CHECK(grant.parameters == old.parameters);
  CHECK(grant.parameters_digest == old.parameters_digest);
  CHECK(grant.application.payload == old.application.payload);
  CHECK(grant.signer.payload == old.signer.payload);
  CHECK(!crypto::read_grant(first[1]).ok());

  request.contexts = {*grant.context};
  const auto next = must(world.work(host.id, request)).grants;
  REQUIRE(next.size() == 2);
  CHECK(!next[0].context);
  CHECK(!next[1].context);

  (void)must(World::wait<protocol::ProblemInfo>([&](auto done) {
    world.service().problems().change_application(problem, {"numbers@1.0.1"}, std::move(done));
  }));
  const auto changed = must(world.work(host.id, request)).grants;
  REQUIRE(!changed.empty());
  REQUIRE(changed[0].context);
  CHECK(must(crypto::read_grant(changed[0])).application.payload != old.application.payload);
}

TEST_CASE("without work a host is told when to ask again and why") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  auto reply = must(world.work(host.id, world.work_request()));
  CHECK(reply.grants.empty());
  CHECK(reply.retry_after_seconds == 5);
  CHECK(says(reply.reason, "none of its problems"));
  reply = must(world.work(host.id, world.work_request(0)));  // asks for nothing
  CHECK(reply.retry_after_seconds == 0);
  const auto stranger = world.work(HostId{99}, world.work_request());
  REQUIRE(!stranger.ok());
  CHECK(stranger.error().kind == ErrorKind::unauthorized);
}

TEST_CASE("a host gets only what it can and may compute") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  (void)world.add_problem(10);
  auto request = world.work_request();
  request.memory_bytes = 1;
  CHECK(must(world.work(host.id, request)).grants.empty());
  request.memory_bytes = std::int64_t{1} << 40;
  request.cores = 0;
  CHECK(must(world.work(host.id, request)).grants.empty());
  request.cores = 1;
  request.applications = std::vector<std::string>{"other"};
  CHECK(must(world.work(host.id, request)).grants.empty());
  request.applications = std::vector<std::string>{"other", "numbers"};
  CHECK(must(world.work(host.id, request)).grants.size() == 1);
}

TEST_CASE("work: whatever call of the store fails, nothing was handed out") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  (void)world.add_problem(30);
  with_each_failure(world, [&](World& w) {
    w.clock().advance(std::chrono::minutes{2});  // so that its contact is stored, too
    auto request = w.work_request(2);
    request.benchmark = protocol::Benchmark{1234, w.clock().now()};
    return status_of(w.work(host.id, request));
  });
  CHECK(says(world.memory(), "mflops 1234"));
  CHECK(says(world.memory(), "unit 1"));
}

TEST_CASE("work with results: they are taken and new work is given in one, or neither") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(30);
  const auto grant = world.grants(host.id).front();
  with_each_failure(world, [&](World& w) {
    auto request = w.work_request();
    request.commits = {World::results(grant.unit, grant.range, true)};
    const auto reply = w.work(host.id, request);
    if (reply.ok()) {
      CHECK(reply->acknowledgements.size() == 1);
      CHECK(reply->grants.size() == 1);
      REQUIRE(reply->progress);
      CHECK(reply->progress->front().accepted == grant.range.size());
    }
    return status_of(reply);
  });
  CHECK(world.show(problem).accepted == grant.range.size());
  CHECK(world.show(problem).open_units == 1);
}

TEST_CASE("what a host does not list it does not have: it is given back") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(30);
  const auto lost = world.grants(host.id).front();
  auto request = world.work_request(0);
  request.units = {report_of(lost)};
  auto reply = must(world.work(host.id, request));
  REQUIRE(reply.units.size() == 1);
  CHECK(reply.units[0].action == UnitAction::go_on);
  CHECK(world.show(problem).open_units == 1);
  with_each_failure(world, [&](World& w) { return status_of(w.work(host.id, w.work_request(0))); });
  CHECK(world.show(problem).open_units == 0);
  CHECK(world.show(problem).free == 30);
}

TEST_CASE("heartbeats: go on, pause with the problem, cancel what is over") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(30);
  const auto grant = world.grants(host.id).front();
  protocol::HeartbeatRequest request;
  protocol::UnitReport unknown;
  unknown.unit = UnitId{77};
  request.units = {report_of(grant), unknown};
  with_each_failure(world, [&](World& w) {
    w.clock().advance(std::chrono::minutes{2});
    return status_of(beat(w, host.id, request));
  });
  auto reply = must(beat(world, host.id, request));
  REQUIRE(reply.units.size() == 2);
  CHECK(reply.units[0].action == UnitAction::go_on);
  CHECK(reply.units[1].action == UnitAction::cancel);
  CHECK(says(reply.units[1].reason, "no longer needed"));
  CHECK(reply.interval_seconds >= 1);
  (void)must(world.change(problem, service::Problems::Action::pause));
  reply = must(beat(world, host.id, request));
  CHECK(reply.units[0].action == UnitAction::pause);
  (void)must(world.change(problem, service::Problems::Action::cancel));
  reply = must(beat(world, host.id, request));
  CHECK(reply.units[0].action == UnitAction::cancel);
  CHECK(beat(world, HostId{99}, request).error().kind == ErrorKind::unauthorized);
}

TEST_CASE("a host's readings are shown as it reported them last") {
  World world;
  const TestHost host = world.add_host();
  const auto shown = [&] {
    return world.look<std::optional<protocol::Readings>>(
        [id = host.id](service::Transaction& tx) { return tx.model.hosts.at(id).readings; });
  };
  CHECK(!shown());
  REQUIRE(beat(world, host.id, {{}, {}, {}, protocol::Readings{0.25, 0.5, 61}}).ok());
  REQUIRE(shown());
  CHECK(shown()->cpu == 0.25);
  CHECK(shown()->celsius == 61);
  protocol::WorkRequest request = world.work_request();
  request.readings = protocol::Readings{0.75, 0.5, {}};
  REQUIRE(world.work(host.id, request).ok());
  CHECK(shown()->cpu == 0.75);
  CHECK(!shown()->celsius);
  const auto day = must(World::wait<protocol::HostInfo>([&](auto done) {
                     world.service().hosts().show(host.id, std::move(done));
                   })).cpu_day;
  REQUIRE(day.size() == 24);
  CHECK(day.back() == 50);
  REQUIRE(beat(world, host.id, {}).ok());
  CHECK(shown()->cpu == 0.75);  // a heartbeat without readings changes none
}

TEST_CASE("a kernel's output comes from its host while somebody looks at it") {
  World world;
  world.add_application();
  const TestHost host = world.add_host(), other = world.add_host("other");
  const ProblemId problem = world.add_problem(4, "", "ss");
  const auto output = [&](HostId of) {
    return World::wait<protocol::KernelOutput>(
        [&](auto done) { world.service().problems().output(problem, of, std::move(done)); });
  };
  CHECK(output(HostId{}).error().kind == ErrorKind::conflict);
  const auto grant = world.grants(host.id).front();
  CHECK(output(other.id).error().kind == ErrorKind::conflict);
  protocol::HeartbeatRequest request;
  request.units = {report_of(grant)};
  CHECK_FALSE(must(beat(world, host.id, request)).outputs);
  const auto asked = must(output(HostId{}));
  CHECK(asked.host == host.id);
  CHECK(asked.unit == grant.unit);
  CHECK(asked.at == Timestamp{});
  const auto reply = must(beat(world, host.id, request));
  CHECK(reply.outputs == std::vector<UnitId>{grant.unit});
  CHECK(reply.interval_seconds == service::LiveOutputs::interval_seconds);
  protocol::HeartbeatRequest false_one;
  false_one.outputs = std::vector<protocol::UnitOutput>{{grant.unit, "of another host's kernel"}};
  REQUIRE(beat(world, other.id, false_one).ok());
  request.outputs = std::vector<protocol::UnitOutput>{{grant.unit, "hello"}};
  REQUIRE(beat(world, host.id, request).ok());
  CHECK(must(output(host.id)).text == "hello");
  CHECK(must(output(host.id)).at == world.clock().now());
  world.clock().advance(service::LiveOutputs::interest);
  CHECK_FALSE(must(beat(world, host.id, request)).outputs);
}

TEST_CASE("what a host saves of an item goes to whoever goes on with it") {
  World world;
  world.add_application({"1.0.0", "exact", true});
  const TestHost first = world.add_host("first"), second = world.add_host("second");
  (void)world.add_problem(1);
  const auto grant = world.grants(first.id).front();
  protocol::HeartbeatRequest request;
  request.units = {report_of(grant)};
  request.saved = {{grant.unit, 0, 0.5, io::compress("half an item")},
                   {UnitId{55}, 0, 0.5, io::compress("of nobody's unit")}};
  (void)must(beat(world, first.id, request));
  must(World::wait_done(
      [&](service::StatusDone done) { world.service().enrolment().leave(first.id, std::move(done)); }));
  const auto going_on = world.grants(second.id).front();
  REQUIRE(going_on.begun);
  CHECK(going_on.begun->share == 0.5);
  CHECK(must(io::decompress(going_on.begun->data, 100)) == "half an item");
}

TEST_CASE("a failure gives the unit back and is remembered of host and problem") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(30);
  const auto grant = world.grants(host.id).front();
  const protocol::FailureReport report{grant.unit, protocol::FailureKind::kernel_crashed, grant.range.begin,
                                       "segmentation fault"};
  with_each_failure(world, [&](World& w) { return fail(w, host.id, report); });
  CHECK(world.show(problem).open_units == 0);
  REQUIRE(world.show(problem).set_aside.size() == 1);
  CHECK(says(world.show(problem).set_aside[0].message, "segmentation fault"));
  must(fail(world, host.id, report));  // it is over: nothing more happens
  CHECK(world.show(problem).set_aside.size() == 1);
  must(fail(world, HostId{99}, report));
  // One failure proves nothing; two in a row hold the host back from the application.
  const auto again = world.grants(host.id).front();
  must(fail(world, host.id, {again.unit, protocol::FailureKind::untrusted, again.range.begin, "bad digest"}));
  const auto held_back = must(world.work(host.id, world.work_request()));
  CHECK(held_back.grants.empty());
  CHECK(held_back.retry_after_seconds > 0);
  CHECK(says(held_back.reason, "held back from numbers@1.0.0"));
  world.clock().advance(std::chrono::seconds{31});
  CHECK(world.grants(host.id).size() == 1);
}

TEST_CASE("a host cannot fail another's unit") {
  World world;
  world.add_application();
  const TestHost host = world.add_host("one"), other = world.add_host("other");
  const ProblemId problem = world.add_problem(30);
  const auto grant = world.grants(host.id).front();
  must(fail(world, other.id, {grant.unit, protocol::FailureKind::kernel_error, 0, "not mine"}));
  CHECK(world.show(problem).open_units == 1);
  CHECK(world.show(problem).set_aside.empty());
}

TEST_CASE("the problem that had least for its share is asked first") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId first = world.add_problem(1000), second = world.add_problem(1000);
  std::map<ProblemId, int> grants;
  auto request = world.work_request();
  for (int slot = 0; slot < 6; ++slot) {
    request.slots = {{slot, true}};
    const auto reply = must(world.work(host.id, request));
    REQUIRE(reply.grants.size() == 1);
    const auto grant = must(protocol::decode<protocol::Grant>(reply.grants[0].payload));
    ++grants[grant.problem];
    request.units.push_back(report_of(grant));
  }
  CHECK(grants[first] == 3);
  CHECK(grants[second] == 3);
}

TEST_CASE("who waits is remembered with what it draws, for stages that begin") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  auto request = world.work_request(2);
  request.proposal.performance = 500;
  request.proposal.watts = 20;
  (void)must(world.work(host.id, request));
  const auto waiting = world.look<std::vector<policy::IdleHost>>(
      [](service::Transaction& tx) { return tx.model.project->dispatch().waiting(tx.now); });
  REQUIRE(waiting.size() == 1);
  CHECK(waiting[0].host == host.id);
  CHECK(waiting[0].slots == 2);
  CHECK(waiting[0].watts == 20);
  world.clock().advance(std::chrono::hours{1});  // it never came back
  CHECK(world
            .look<std::vector<policy::IdleHost>>(
                [](service::Transaction& tx) { return tx.model.project->dispatch().waiting(tx.now); })
            .empty());
}
