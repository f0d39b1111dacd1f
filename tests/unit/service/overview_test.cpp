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

TEST_CASE("a TLS certificate that no client believes is warned of") {
  World world([](service::Configuration& c) { c.disk_reserve_megabytes = 0; });
  const auto warnings = [&] {
    return must(World::wait<protocol::ServerStatus>([&](auto done) {
             world.service().overview().status(std::move(done), protocol::Role::own);
           }))
        .warnings;
  };
  const Timestamp end = world.clock().now() + std::chrono::hours{24 * 90};
  world.service().overview().set_certificate(end, true);
  CHECK(warnings().empty());
  world.service().overview().set_certificate(end, false);
  REQUIRE(warnings().size() == 1);
  CHECK(says(warnings()[0], "server.public_certificate"));
}

TEST_CASE("a snapshot names the first hosts and counts all") {
  World world;
  for (int i = 0; i < 203; ++i) (void)world.add_host("host " + std::to_string(i));
  const Snapshot snapshot = look(world);
  CHECK(snapshot->hosts.size() == service::ProjectSnapshot::hosts_max);
  CHECK(snapshot->hosts_total == 203);
}

TEST_CASE("who knows of a change waits for a snapshot that shows it; who does not takes the one being made") {
  World world;
  auto held = std::make_unique<HeldWriter>(world);
  std::vector<std::promise<Result<Snapshot>>> answers(3);
  const auto ask = [&](std::size_t which) {
    world.service().overview().look(
        [&answers, which](Result<Snapshot> made) { answers[which].set_value(std::move(made)); });
  };
  ask(0);
  ask(1);
  world.service().overview().outdate();
  ask(2);
  held.reset();
  const Snapshot first = must(answers[0].get_future().get()), second = must(answers[1].get_future().get());
  const Snapshot third = must(answers[2].get_future().get());
  CHECK(first == second);
  CHECK(third != first);
}

TEST_CASE("a snapshot that cannot be built is told to all who wait, also to those who know of a change") {
  World world;
  auto held = std::make_unique<HeldWriter>(world);
  std::vector<std::promise<Result<Snapshot>>> answers(2);
  for (auto& answer : answers) {
    world.service().overview().look([&answer](Result<Snapshot> made) { answer.set_value(std::move(made)); });
    world.service().overview().outdate();
  }
  world.store().fail_at(2);  // the commit of the operation above, and the snapshot's begin
  held.reset();
  for (auto& answer : answers) CHECK(answer.get_future().get().error().kind == ErrorKind::unavailable);
  world.store().heal();
  CHECK(look(world) != nullptr);
}

TEST_CASE("the join code is told while it is the default code's, and not to who may only look") {
  World world;
  world.service().overview().set_listening_port(4711);
  const auto join_code = [&](protocol::Role asker) {
    return must(World::wait<protocol::ServerStatus>(
                    [&](auto done) { world.service().overview().status(std::move(done), asker); }))
        .join_code;
  };
  const std::string code = join_code(protocol::Role::own);
  CHECK(must(protocol::parse_join_code(code)).port == 4711);
  CHECK(must(protocol::parse_join_code(code)).enrolment_secret == world.secret());
  CHECK(join_code(protocol::Role::operate) == code);
  CHECK(join_code(protocol::Role::view).empty());
  (void)must(World::wait<protocol::CodeInfo>(
      [&](auto done) { world.service().codes().withdraw("default", {}, std::move(done)); }));
  CHECK(join_code(protocol::Role::own).empty());
}

TEST_CASE("hosts that left and problems that are over are not counted") {
  World world;
  world.add_application();
  const TestHost host = world.add_host("leaving");
  (void)world.add_host("staying");
  const ProblemId problem = world.add_problem(30);
  (void)world.add_problem(30);
  CHECK(look(world)->status.hosts == 2);
  CHECK(look(world)->status.problems_open == 2);
  must(World::wait_done(
      [&](service::StatusDone done) { world.service().enrolment().leave(host.id, std::move(done)); }));
  (void)must(world.change(problem, service::Problems::Action::cancel));
  const Snapshot after = look(world);
  CHECK(after->status.hosts == 1);
  CHECK(after->status.problems_open == 1);
  CHECK(after->problems.size() == 2);
  CHECK(after->hosts_total == 2);
}
