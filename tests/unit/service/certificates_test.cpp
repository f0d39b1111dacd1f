// What the end of a certificate does: no work, no blame, and everybody hears of it.
#include <algorithm>

#include "server/service/core/certified.h"
#include "shared/protocol/codec.h"
#include "tests/unit/service/world.h"

using namespace gleaner;
using namespace gleaner::service;
using namespace gleaner::service::testing;

namespace {

std::vector<std::string> warnings(World& world) {
  return must(World::wait<protocol::ServerStatus>([&](auto done) {
           world.service().overview().status(std::move(done), protocol::Role::own);
         }))
      .warnings;
}

bool warns(World& world, const std::string& words) {
  const auto all = warnings(world);
  return std::any_of(all.begin(), all.end(), [&](const auto& each) { return says(each, words); });
}

Timestamp end_of_work_key(World& world) {
  return world.look<Timestamp>([](Transaction& tx) { return tx.settings.work_certificate_expires; });
}

// Its first problem's application.
Timestamp end_of_signer(World& world) {
  return world.look<Timestamp>(
      [](Transaction& tx) { return tx.model.applications.begin()->second.signer_expires; });
}

}  // namespace

TEST_CASE("after the end of the work key's certificate nothing is granted, and no grant holds beyond it") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(30);
  const Timestamp end = std::min(end_of_work_key(world), end_of_signer(world));
  CHECK(!warns(world, "certificate"));
  world.clock().advance(end - std::chrono::hours{2} - world.clock().now());
  CHECK(warns(world, "within a week"));
  const auto grant = world.grants(host.id).front();
  CHECK(grant.deadline == end);
  const auto commit = World::results(grant.unit, {grant.range.begin, grant.range.begin + 1});
  CHECK(must(world.commit(host.id, commit)).status == protocol::CommitStatus::accepted);

  world.clock().advance(end_of_work_key(world) - world.clock().now());
  CHECK(warns(world, "the work key's certificate expired on"));
  const auto reply = must(world.work(host.id, world.work_request()));
  CHECK(reply.grants.empty());
  CHECK(says(reply.reason, "expired on"));
  CHECK(reply.retry_after_seconds <= 30);  // once there is another, all goes on within a minute
  protocol::AddProblem late;
  late.application = "numbers";
  late.name = "late";
  late.parameters = R"({"count": 5})";
  const auto refused = world.try_add_problem(late);
  REQUIRE(!refused.ok());
  CHECK(says(refused.error().message, "expired on"));
  (void)must(world.change(problem, Problems::Action::pause));
  CHECK(says(status_of(world.change(problem, Problems::Action::resume)).error().message, "expired on"));
}

TEST_CASE("after the end of a signer's certificate nothing of the application is granted") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  (void)world.add_problem(30);
  (void)world.look<bool>([&](Transaction& tx) {
    tx.model.applications.begin()->second.signer_expires = tx.now + std::chrono::hours{24 * 6};
    return true;
  });
  CHECK(warns(world, "within a week"));
  CHECK(world.grants(host.id).front().deadline < world.clock().now() + std::chrono::hours{25});
  world.clock().advance(std::chrono::hours{24 * 6});
  CHECK(warns(world, "who signed"));
  CHECK(must(world.work(host.id, world.work_request())).grants.empty());
}

TEST_CASE("what a host cannot verify is held against nobody, and is not sent again at once") {
  World world;
  world.add_application();
  const TestHost host = world.add_host("first"), other = world.add_host("second");
  const ProblemId problem = world.add_problem(60, "", "ss");
  for (int i = 0; i < 12; ++i) {
    for (const TestHost& each : {host, other}) {
      const auto reply = must(world.work(each.id, world.work_request()));
      if (reply.grants.empty()) continue;
      const auto grant = must(protocol::decode<protocol::Grant>(reply.grants.front().payload));
      const protocol::FailureReport report{grant.unit, protocol::FailureKind::untrusted, grant.range.begin,
                                           "the key certificate expired"};
      must(World::wait_done(
          [&](StatusDone done) { world.service().work().failure(each.id, report, std::move(done)); }));
      // Not at once; but never longer than this.
      CHECK(must(world.work(each.id, world.work_request())).grants.empty());
    }
    world.clock().advance(std::chrono::seconds{31});
  }
  const auto info = world.show(problem);
  CHECK(info.state == protocol::ProblemState::running);
  CHECK(std::none_of(info.set_aside.begin(), info.set_aside.end(), [](const auto& each) {
    return !each.unit.valid();
  }));  // failures are told, nothing more
  for (const HostId id : {host.id, other.id})
    CHECK(world.look<std::int64_t>(
              [&](Transaction& tx) { return tx.model.hosts.at(id).row.health.failures; }) == 0);
  // Everything is well at once when it is.
  const auto grant = world.grants(host.id).front();
  CHECK(must(world.commit(host.id, World::results(grant.unit, grant.range))).status ==
        protocol::CommitStatus::accepted);
}
