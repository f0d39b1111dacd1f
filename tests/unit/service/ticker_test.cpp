// What time brings.
#include "server/service/ticker.h"

#include <thread>

#include "tests/unit/service/world.h"

using namespace gleaner;
using namespace gleaner::service::testing;

TEST_CASE("a calendar that was set makes nobody silent: everything counts from now") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(30);
  (void)world.grants(host.id);
  world.tick();
  world.clock().jump_calendar(std::chrono::hours{48});
  world.tick();
  world.tick();
  CHECK(world.show(problem).open_units == 1);  // its lease began anew
  (void)world.memory();
  world.clock().jump_calendar(std::chrono::hours{-48});
  world.tick();
  CHECK(world.show(problem).open_units == 1);
}

TEST_CASE("time that passes ends leases; a calendar that stands still does not matter") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(30);
  (void)world.grants(host.id);
  world.tick();
  world.clock().advance(std::chrono::hours{25});
  world.tick();
  CHECK(world.show(problem).open_units == 0);
}

TEST_CASE("blobs that nothing refers to go after a day, others stay") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(30);
  const auto grant = world.grants(host.id).front();
  const auto request = world.uploaded(World::results(grant.unit, {grant.range.begin, grant.range.begin + 1}));
  (void)must(world.commit(host.id, request));
  storage::BlobStore& blobs = world.service().kernel().blobs();
  const std::string orphan = must(blobs.put("nobody's"));
  const auto collect = [&] {
    world.service().ticker().collect_garbage();
    world.settle();
    for (int i = 0; i < 100 && io::real_files().exists(blobs.path(orphan)); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
  };
  collect();
  CHECK(io::real_files().exists(blobs.path(orphan)));
  world.clock().advance(std::chrono::hours{49});
  collect();
  CHECK(!io::real_files().exists(blobs.path(orphan)));
  CHECK(io::real_files().exists(blobs.path(request.digest)));
  CHECK(world.show(problem).accepted == 1);
}

TEST_CASE("nothing is removed while a job may have stored what no row names yet") {
  World world;
  storage::BlobStore& blobs = world.service().kernel().blobs();
  const std::string orphan = must(blobs.put("perhaps somebody's"));
  world.clock().advance(std::chrono::hours{49});
  (void)world.look<bool>([](service::Transaction& tx) {
    tx.model.underway.drafts[ProblemId{1}] = "being planned";
    return true;
  });
  world.service().ticker().collect_garbage();
  (void)world.look<bool>([](service::Transaction&) { return true; });
  std::this_thread::sleep_for(std::chrono::milliseconds{20});
  CHECK(io::real_files().exists(blobs.path(orphan)));
  (void)world.look<bool>([](service::Transaction& tx) {
    tx.model.underway.drafts.clear();
    return true;
  });
}

TEST_CASE("a tick that could not be stored does not stop the clock") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(30);
  (void)world.grants(host.id);
  world.store().fail_at(1);
  world.service().ticker().tick();
  while (!world.store().failed()) std::this_thread::sleep_for(std::chrono::milliseconds{1});
  world.settle();
  world.clock().advance(std::chrono::hours{25});
  world.tick();
  CHECK(world.show(problem).open_units == 0);
}

TEST_CASE("the ticker ticks once a second of its own accord") {
  World world;
  const auto commits = world.store().commits();
  world.service().start_ticking();
  for (int i = 0; i < 300 && world.store().commits() == commits; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  CHECK(world.store().commits() > commits);
}
