// A look at the items in hand, which changes nothing.
#include "shared/protocol/codec.h"
#include "tests/unit/service/world.h"

using namespace gleaner;
using namespace gleaner::service::testing;

namespace {

Result<protocol::Preview> preview(World& world, ProblemId id) {
  return World::wait<protocol::Preview>(
      [&](auto done) { world.service().previews().preview(id, std::move(done)); });
}

}  // namespace

TEST_CASE("a preview shows the items that are there") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(30);
  auto nothing = preview(world, problem);
  REQUIRE(!nothing.ok());
  CHECK(nothing.error().kind == ErrorKind::conflict);
  CHECK(says(nothing.error().message, "none of its items"));
  const auto grant = world.grants(host.id).front();
  (void)must(world.commit(host.id, World::results(grant.unit, {grant.range.begin, grant.range.begin + 1})));
  const auto shown = must(preview(world, problem));
  CHECK(shown.accepted == 1);
  CHECK(shown.items == 30);
  REQUIRE(shown.files.size() == 1);
  CHECK(says(must(world.service().kernel().blobs().read(shown.files[0].digest, 1000)), "0 1"));
  world.settle();
  CHECK(world.show(problem).state == protocol::ProblemState::running);
}

TEST_CASE("a preview: whatever call of the store fails, none is under way, and it can be asked for again") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(30);
  const auto grant = world.grants(host.id).front();
  (void)must(world.commit(host.id, World::results(grant.unit, {grant.range.begin, grant.range.begin + 1})));
  for (int n = 1; n < 20; ++n) {
    world.store().fail_at(n);
    const auto shown = preview(world, problem);
    const bool failed = world.store().failed();
    world.store().heal();
    world.tick();
    (void)world.memory();
    if (!shown.ok()) CHECK(shown.error().kind == ErrorKind::unavailable);
    if (!failed) {
      CHECK(shown.ok());
      return;
    }
  }
  FAIL("it never succeeds");
}

TEST_CASE("there is no preview of what is over, never began or is not here") {
  World world;
  world.add_application();
  CHECK(preview(world, ProblemId{9}).error().kind == ErrorKind::not_found);
  const ProblemId empty = world.add_problem(3, ", \"stages\": 0");
  CHECK(says(preview(world, empty).error().message, "finished"));
}

TEST_CASE("a manager that has nothing to show says why") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(30, ", \"x\": \"no-preview\"");
  const auto grant = world.grants(host.id).front();
  (void)must(world.commit(host.id, World::results(grant.unit, {grant.range.begin, grant.range.begin + 1})));
  const auto shown = preview(world, problem);
  REQUIRE(!shown.ok());
  CHECK(shown.error().kind == ErrorKind::conflict);
  CHECK(says(shown.error().message, "nothing to look at"));
  world.settle();
}

TEST_CASE("a problem whose last items come during a preview is combined after it") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(2);
  for (int round = 0; round < 10 && world.show(problem).state == protocol::ProblemState::running; ++round) {
    const auto reply = must(world.work(host.id, world.work_request()));
    std::promise<bool> shown;
    world.service().previews().preview(problem, [&](Result<protocol::Preview>) { shown.set_value(true); });
    for (const auto& statement : reply.grants)
      world.finish(must(protocol::decode<protocol::Grant>(statement.payload)));
    REQUIRE(shown.get_future().get());
    world.settle();
  }
  CHECK(world.show(problem).state == protocol::ProblemState::finished);
}
