// Problems whose strategy maps tasks to hosts: plans are made beside the requests and lost with nothing.
#include "server/service/work/dispatch.h"

#include <thread>

#include "shared/protocol/codec.h"
#include "tests/unit/service/world.h"

using namespace gleaner;
using namespace gleaner::service::testing;

namespace {

std::int64_t plans(World& world, const std::string& strategy) {
  return world.look<std::int64_t>([&](service::Transaction& tx) {
    const auto* group = tx.model.project->dispatch().plans(strategy);
    return group == nullptr ? std::int64_t{0} : group->queues().plans();
  });
}

}  // namespace

TEST_CASE("an idle slot starts a plan, waits a moment and then gets its task") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(40, "", "mm");
  const auto first = must(world.work(host.id, world.work_request()));
  CHECK(first.grants.empty());
  CHECK(first.retry_after_seconds > 0);
  CHECK(first.retry_after_seconds < 1);
  CHECK(says(first.reason, "plan"));
  world.settle();
  CHECK(plans(world, "mm") == 1);
  const auto grant = world.grants(host.id).front();
  CHECK(grant.problem == problem);
  CHECK(!grant.range.empty());
  (void)world.memory();
}

TEST_CASE("a request that could not be stored starts no plan") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  (void)world.add_problem(40, "", "mm");
  world.clock().advance(std::chrono::minutes{2});
  for (int n = 1; n < 10; ++n) {
    world.store().fail_at(n);
    const auto reply = world.work(host.id, world.work_request());
    const bool failed = world.store().failed();
    world.store().heal();
    if (!failed || reply.ok()) break;  // or the plan's own end failed
    CHECK(plans(world, "mm") == 0);
    CHECK(!world.look<bool>([](service::Transaction& tx) {
      const auto* group = tx.model.project->dispatch().plans("mm");
      return group != nullptr && group->planning();
    }));
  }
  world.settle();
  (void)must(world.work(host.id, world.work_request()));
  world.settle();
  CHECK(plans(world, "mm") > 0);
}

TEST_CASE("a mapped problem is computed to its end by two hosts") {
  World world;
  world.add_application();
  const TestHost one = world.add_host("one"), two = world.add_host("two");
  const ProblemId problem = world.add_problem(24, "", "mx");
  for (int round = 0; round < 500; ++round) {
    if (world.show(problem).state != protocol::ProblemState::running) break;
    for (const HostId host : {one.id, two.id}) {
      const auto reply = must(world.work(host, world.work_request()));
      for (const auto& statement : reply.grants) {
        const auto grant = must(protocol::decode<protocol::Grant>(statement.payload));
        (void)must(world.commit(host, World::results(grant.unit, grant.range, true)));
      }
    }
    world.tick();
  }
  CHECK(world.show(problem).state == protocol::ProblemState::finished);
  world.tick();
  CHECK(world.look<bool>(
      [](service::Transaction& tx) { return tx.model.project->dispatch().plans("mx") == nullptr; }));
}

TEST_CASE("a plan that comes after its group has gone is left alone") {
  World world;
  (void)world.look<bool>([](service::Transaction& tx) {
    service::take_mapping(tx, {"mm", "", {}, {}}, {}, 1);
    return true;
  });
  CHECK(plans(world, "mm") == 0);
}

TEST_CASE("a plan whose end could not be stored is taken later, and its slot gets its task") {
  for (const int call : {1, 2}) {  // the begin, the commit
    INFO("call " << call << " fails");
    World world;
    world.add_application();
    const TestHost host = world.add_host();
    (void)world.add_problem(40, "", "mm");
    CHECK(must(world.work(host.id, world.work_request())).grants.empty());
    world.settle();
    const auto before = plans(world, "mm");
    REQUIRE(before == 1);
    policy::PlanJob job;
    job.strategy = "mm";
    world.store().fail_at(call);
    world.service().kernel().writer().submit_surely([job](service::Transaction& tx) -> Status {
      service::take_mapping(tx, job, policy::TaskPlan{}, 1.0);
      return {};
    });
    while (!world.store().failed()) std::this_thread::sleep_for(std::chrono::milliseconds{1});
    world.store().heal();
    world.tick();
    (void)world.memory();
    // Queues are made anew after the model was read back; the slot waits for them once more.
    bool got = false;
    for (int i = 0; i < 3 && !got; ++i) {
      world.settle();
      got = !must(world.work(host.id, world.work_request())).grants.empty();
    }
    CHECK(got);
  }
}
