// A look at the items in hand, which changes nothing.
#include <set>
#include <thread>

#include "shared/protocol/codec.h"
#include "shared/protocol/segment.h"
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

TEST_CASE("a picture is made for all who look, anew as items come") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(30);
  const auto picture = [&] {
    return World::wait<protocol::Preview>(
        [&](auto done) { world.service().previews().picture(problem, std::move(done)); });
  };
  const auto shows_more_than = [&](std::int64_t items) {
    for (int i = 0; i < 2000; ++i) {
      if (must(picture()).accepted > items) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
    return false;
  };
  world.finish(world.grants(host.id).front());
  const std::int64_t before = must(picture()).accepted;
  CHECK(before > 0);
  world.finish(world.grants(host.id).front());
  CHECK(must(picture()).accepted == before);  // not so soon
  world.clock().advance(std::chrono::minutes{1});
  CHECK(shows_more_than(before));
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

TEST_CASE("without the manager's picture the accepted items themselves are shown, with their places") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(30, ", \"x\": \"no-preview\"");
  const auto held = world.grants(host.id, 2);
  REQUIRE(held.size() == 2);
  const protocol::Grant &first = held[0], &second = held[1];
  REQUIRE(first.range.end == second.range.begin);
  REQUIRE(second.range.size() >= 1);
  (void)must(world.commit(host.id, World::results(first.unit, {first.range.begin, first.range.begin + 1})));
  world.finish(second);
  const auto partial = [&] {
    return World::wait<protocol::Preview>(
        [&](auto done) { world.service().previews().partial(problem, std::move(done)); });
  };
  const auto shown = must(partial());
  CHECK(shown.accepted == 1 + second.range.size());
  REQUIRE(shown.files.size() == 2);
  CHECK(shown.files[0].name == "accepted.items");
  CHECK(shown.files[1].name == "accepted.tsv");
  Bytes expected;
  protocol::append_item(expected, "item-" + std::to_string(first.range.begin));
  for (std::int64_t item = second.range.begin; item < second.range.end; ++item)
    protocol::append_item(expected, "item-" + std::to_string(item));
  auto& blobs = world.service().kernel().blobs();
  CHECK(must(blobs.read(shown.files[0].digest, 10'000)) == expected);
  const std::string index = must(blobs.read(shown.files[1].digest, 10'000));
  CHECK(index.starts_with("begin\tend\n" + std::to_string(first.range.begin) + "\t"));
  CHECK(index.ends_with("\t" + std::to_string(second.range.end) + "\n"));
  world.settle();
  (void)must(world.change(problem, service::Problems::Action::cancel));
  CHECK(must(partial()).files[0].digest == shown.files[0].digest);  // also of what was given up
}

TEST_CASE("two previews at once and one of each problem; others are asked to come again") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(30);
  const auto grant = world.grants(host.id).front();
  (void)must(world.commit(host.id, World::results(grant.unit, {grant.range.begin, grant.range.begin + 1})));
  const auto under_way = [&](const std::set<ProblemId>& previews) {
    (void)world.look<bool>([&](service::Transaction& tx) {
      tx.model.underway.previews = previews;
      return true;
    });
  };
  for (const auto& others : {std::set<ProblemId>{problem}, std::set<ProblemId>{ProblemId{7}, ProblemId{8}}}) {
    under_way(others);
    const auto refused = preview(world, problem);
    REQUIRE(!refused.ok());
    CHECK(refused.error().kind == ErrorKind::unavailable);
    CHECK(says(refused.error().message, "making a preview already"));
  }
  under_way({ProblemId{7}});
  CHECK(preview(world, problem).ok());
  under_way({});
}

TEST_CASE("while a stage is planned or combined there is no preview, and the reason is temporary") {
  World world;
  world.add_application();
  const ProblemId problem = world.add_problem(30);
  const auto jobs = [&](const std::set<ProblemId>& ids) {
    (void)world.look<bool>([&](service::Transaction& tx) {
      tx.model.underway.jobs = ids;
      return true;
    });
  };
  jobs({problem});
  const auto refused = preview(world, problem);
  jobs({});
  REQUIRE(!refused.ok());
  CHECK(refused.error().kind == ErrorKind::conflict);
  CHECK(says(refused.error().message, "try again in a moment"));
}
