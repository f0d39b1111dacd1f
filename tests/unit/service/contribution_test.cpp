// Core-hours, energy and items, day by day; errors grouped; refused results are waste.
#include "server/service/core/contribution.h"

#include "tests/unit/service/world.h"

using namespace gleaner;
using namespace gleaner::service::testing;
using protocol::FailureKind;
using service::Contribution;

namespace {

std::vector<protocol::DayInfo> days(World& world) {
  return must(World::wait<std::vector<protocol::DayInfo>>(
      [&](auto done) { world.service().views().days(std::move(done)); }));
}

std::vector<protocol::ErrorGroup> errors(World& world) {
  return must(World::wait<std::vector<protocol::ErrorGroup>>(
      [&](auto done) { world.service().views().errors(std::move(done)); }));
}

}  // namespace

TEST_CASE("cores at work add up by the day; time that nobody counted is left out") {
  Contribution counted;
  Timestamp now{std::chrono::days{20'000} + std::chrono::hours{23} + std::chrono::minutes{59} +
                std::chrono::seconds{50}};
  counted.count(now, 4, 20, 100);
  CHECK(counted.pending().empty());  // since when is not known
  counted.count(now += std::chrono::seconds{5}, 4, 20, 100);
  counted.count(now += std::chrono::seconds{1}, 0, 0, 103);
  REQUIRE(counted.pending().size() == 1);
  CHECK(counted.pending()[0].day == 20'000);
  CHECK(counted.pending()[0].core_seconds == Approx(20));
  CHECK(counted.pending()[0].joules == Approx(100));
  CHECK(counted.pending()[0].items == 3);
  counted.count(now += std::chrono::seconds{10}, 2, 0, 103);
  REQUIRE(counted.pending().size() == 2);
  CHECK(counted.pending()[1].day == 20'001);
  CHECK(counted.pending()[1].core_seconds == Approx(20));
  counted.stored();
  counted.count(now += std::chrono::hours{5}, 2, 0, 103);  // asleep
  counted.count(now -= std::chrono::hours{1}, 2, 0, 103);  // the clock was set
  CHECK(counted.pending().empty());
  counted.count(now += std::chrono::seconds{1}, 2, 0, 103);
  CHECK(counted.pending().at(0).core_seconds == Approx(2));
}

TEST_CASE("days are shown as they are, and outlast a restart") {
  World world;
  world.add_application();
  const ProblemId problem = world.add_problem(12);
  const TestHost host = world.add_host();
  auto request = world.work_request();
  request.proposal.watts = 36;
  const auto reply = must(world.work(host.id, request));
  REQUIRE(!reply.grants.empty());
  for (int i = 0; i < 3; ++i) world.tick();
  world.finish(world.grants(host.id).front());
  world.tick();
  const auto before = days(world);
  REQUIRE(!before.empty());
  CHECK(before.back().core_hours > 1.5 / 3600);
  CHECK(before.back().kilowatt_hours > 1.5 * 36 / 3.6e6);
  CHECK(before.back().items > 0);
  for (int i = 0; i < 30; ++i) world.tick();  // stored by then
  world.restart();
  const auto after = days(world);
  REQUIRE(!after.empty());
  CHECK(after.back().core_hours >= before.back().core_hours);
  CHECK(after.back().items >= before.back().items);
  CHECK(world.show(problem).accepted > 0);
}

TEST_CASE("the same last words are one error, with its sentence, hosts and times") {
  World world;
  world.add_application();
  const ProblemId problem = world.add_problem(12, "", "static,mode=paper");
  for (const char* name : {"attic", "kitchen"}) {
    const TestHost host = world.add_host(name);
    const auto grant = world.grants(host.id).front();
    world.clock().advance(std::chrono::seconds{60});
    const protocol::FailureReport report{
        grant.unit, FailureKind::kernel_error, grant.range.begin,
        std::string("Traceback, on ") + name + "\n  File \"kernel.py\"\nValueError: no such colour\n"};
    must(World::wait_done(
        [&](service::StatusDone done) { world.service().work().failure(host.id, report, std::move(done)); }));
  }
  const auto all = errors(world);
  REQUIRE(all.size() == 1);
  CHECK(all[0].words == "ValueError: no such colour");
  CHECK(says(all[0].message, "Traceback"));
  CHECK(all[0].times == 2);
  CHECK(all[0].hosts == 2);
  REQUIRE(all[0].by.size() == 2);
  CHECK(all[0].by[0].name == "attic");
  CHECK(all[0].by[0].times == 1);
  CHECK(all[0].last_at - all[0].first_at == std::chrono::seconds{60});
  const auto shown = world.show(problem);
  REQUIRE(shown.errors.size() == 1);
  CHECK(shown.errors[0].words == all[0].words);
  CHECK(shown.wasted_cost > 0);
}

TEST_CASE("a refused result is wasted work, and its unit ends at once") {
  World world;
  world.add_application();
  const ProblemId problem = world.add_problem(12, "", "static,mode=paper");
  const TestHost host = world.add_host();
  const auto grant = world.grants(host.id).front();
  const Range range{grant.range.begin, grant.range.begin + 2};
  const auto answer = must(
      world.commit(host.id, World::results(grant.unit, range, false, [](std::int64_t) { return "wrong"; })));
  CHECK(answer.status == protocol::CommitStatus::refused);
  CHECK(world.show(problem).wasted_cost >= 2);
  CHECK(world.show(problem).open_units == 0);
}

TEST_CASE("waste is of all stages of a problem, also after a restart") {
  World world;
  world.add_application();
  const ProblemId problem = world.add_problem(10, ", \"stages\": 2");
  const TestHost bad = world.add_host("bad"), good = world.add_host("good");
  const auto grant = world.grants(bad.id).front();
  (void)must(world.commit(
      bad.id, World::results(grant.unit, grant.range, true, [](std::int64_t) { return "wrong"; })));
  const double of_stage = world.show(problem).wasted_cost;
  REQUIRE(of_stage > 0);
  CHECK(world.show(problem).wasted == Approx(1));  // nothing else was computed
  while (world.show(problem).stage == 0) {
    for (const auto& each : world.grants(good.id)) world.finish(each);
    world.settle();
  }
  // The second stage counts as much as the first, and nothing of it is done.
  const auto next = world.show(problem);
  CHECK(next.wasted_cost == 0);
  CHECK(next.wasted == Approx(of_stage / (of_stage + next.items)));
  world.restart();
  CHECK(world.show(problem).wasted == next.wasted);
  while (world.show(problem).state != protocol::ProblemState::finished) {
    for (const auto& each : world.grants(good.id)) world.finish(each);
    world.settle();
  }
  const auto over = world.show(problem);
  CHECK(over.wasted == Approx(of_stage / (of_stage + 2 * static_cast<double>(over.items))));
  world.restart();
  CHECK(world.show(problem).wasted == over.wasted);
}
