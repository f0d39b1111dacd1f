// What people look at: cheap, never older than it may be, and true after a change.
#include <thread>

#include "tests/unit/service/world.h"

using namespace gleaner;
using namespace gleaner::service::testing;
using Snapshot = service::Overview::Snapshot;

namespace {

Snapshot look(World& world) {
  return must(World::wait<Snapshot>([&](auto done) { world.service().overview().look(std::move(done)); }));
}

}  // namespace

TEST_CASE("however many look within a second, the writer is asked once") {
  World world;
  const Snapshot first = look(world);
  const auto commits = world.store().commits();
  for (int i = 0; i < 100; ++i) CHECK(look(world) == first);
  CHECK(world.store().commits() == commits);
}

TEST_CASE("a later reader gets the last snapshot at once and a newer one is made for the next") {
  World world;
  const Snapshot first = look(world);
  world.clock().advance(std::chrono::seconds{2});
  CHECK(look(world) == first);
  for (int i = 0; i < 1000 && look(world) == first; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds{2});
  const Snapshot second = look(world);
  CHECK(second != first);
  CHECK(second->status.now > first->status.now);
  world.clock().advance(std::chrono::seconds{11});  // nobody looked for long: this one waits
  CHECK(look(world)->status.now == world.clock().now());
}

TEST_CASE("a change shows at once") {
  World world;
  world.add_application();
  CHECK(look(world)->problems.empty());
  const ProblemId problem = world.add_problem(5);
  REQUIRE(look(world)->problems.size() == 1);
  CHECK(look(world)->problems[0].state == protocol::ProblemState::running);
  (void)must(world.change(problem, service::Problems::Action::pause));
  CHECK(look(world)->problems[0].state == protocol::ProblemState::paused);
  const TestHost host = world.add_host();
  CHECK(look(world)->hosts.size() == 1);
  (void)must(world.change(problem, service::Problems::Action::resume));
  CHECK(look(world)->problems[0].state == protocol::ProblemState::running);
  for (const auto& grant : world.grants(host.id, 4)) world.finish(grant);
  for (int i = 0; i < 20 && world.show(problem).state == protocol::ProblemState::running; ++i)
    for (const auto& grant : world.grants(host.id, 4)) world.finish(grant);
  world.settle();
  CHECK(look(world)->problems[0].state == protocol::ProblemState::finished);
  must(world.remove(problem));
  CHECK(look(world)->problems.empty());
}

TEST_CASE("a snapshot that could not be built is an error, and the next look builds one") {
  World world;
  world.store().fail_at(1);
  const auto failed =
      World::wait<Snapshot>([&](auto done) { world.service().overview().look(std::move(done)); });
  REQUIRE(!failed.ok());
  CHECK(failed.error().kind == ErrorKind::unavailable);
  CHECK(look(world) != nullptr);
}

TEST_CASE("the status counts hosts, units and problems, and warns") {
  World world([](service::Configuration& c) { c.disk_reserve_megabytes = 1 << 20; });
  world.add_application();
  const TestHost host = world.add_host("one");
  (void)world.add_host("two");
  (void)world.add_problem(30);
  (void)world.grants(host.id, 2);
  world.service().overview().set_listening_port(4711);
  const auto status = must(World::wait<protocol::ServerStatus>(
      [&](auto done) { world.service().overview().status(std::move(done), protocol::Role::own); }));
  CHECK(status.hosts == 2);
  CHECK(status.hosts_active == 2);
  CHECK(status.open_units == 2);
  CHECK(status.problems_open == 1);
  CHECK(!status.join_code.empty());
  REQUIRE(status.warnings.size() == 1);
  CHECK(says(status.warnings[0], "nearly full"));
  world.clock().advance(std::chrono::hours{24 * 710});
  const auto later = must(World::wait<protocol::ServerStatus>(
      [&](auto done) { world.service().overview().status(std::move(done), protocol::Role::own); }));
  CHECK(later.hosts_active == 0);
  REQUIRE(later.warnings.size() == 2);
  CHECK(says(later.warnings[0], "certificate runs out"));
}

TEST_CASE("a snapshot names the first hosts and counts all") {
  World world;
  for (int i = 0; i < 203; ++i) (void)world.add_host("host " + std::to_string(i));
  const Snapshot snapshot = look(world);
  CHECK(snapshot->hosts.size() == service::ProjectSnapshot::hosts_max);
  CHECK(snapshot->hosts_total == 203);
}
