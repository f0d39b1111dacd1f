// What follows from deliveries and verdicts: audits, settlements, standings, and what is taken back.
#include "tests/unit/project/bench.h"

using namespace gleaner;
using namespace gleaner::policy;
using Settlement = ProjectChanges::Settlement;

TEST_CASE("a newcomer's delivery is audited, and two that agree are known for it") {
  ProjectBench bench;
  const ProblemId problem = bench.add_problem(1, 5, "adaptive");
  for (const std::int64_t host : {1, 2}) bench.add_host(host);
  const Unit unit = bench.take(problem, 1);
  CHECK(bench.deliver(problem, unit).stages.size() == 1);
  CHECK(bench.is_disputed(problem, unit.range));
  const ProjectChanges agreed = bench.compare(problem, unit.range, {{1, 0}, {2, 0}});
  CHECK(agreed.settlement == Settlement::agreed);
  CHECK_FALSE(bench.is_disputed(problem, unit.range));
  REQUIRE(agreed.standings.size() == 2);
  for (const auto& [host, application, standing] : agreed.standings) CHECK(standing.right == 1);
  CHECK(agreed.refuted.empty());
}

TEST_CASE("where nothing is validated nothing is audited, and verdicts are learned from all the same") {
  ProjectBench bench;
  const ProblemId problem = bench.add_problem(1, 5, "none");
  for (const std::int64_t host : {1, 2, 3}) bench.add_host(host);
  CHECK_FALSE(bench.project.audits(problem));
  const Unit unit = bench.take(problem, 1);
  CHECK(bench.deliver(problem, unit).stages.empty());
  CHECK(bench.project.apply(CompletedEvent{problem, 1}, bench.now).stages.empty());
  CHECK(bench.compare(problem, unit.range, {{1, 1}, {2, 0}, {3, 0}}).refuted ==
        std::vector<HostId>{HostId{1}});
}

TEST_CASE("who differs asks for another; who is outvoted loses what nobody verified, in every problem") {
  ProjectBench bench;
  constexpr ApplicationId other{2};
  const ProblemId first = bench.add_problem(1, 9, "adaptive"), second = bench.add_problem(2, 9, "adaptive"),
                  third = bench.add_problem(3, 9, "adaptive", other);
  for (const std::int64_t host : {1, 2, 3}) bench.add_host(host);
  const Unit judged = bench.take(first, 1), doubted = bench.take(third, 1);
  (void)bench.deliver(first, judged);
  (void)bench.deliver(third, doubted);
  const Unit same = bench.take(second, 1), elsewhere = bench.take(third, 1);

  const ProjectChanges differ = bench.compare(first, judged.range, {{1, 1}, {2, 0}});
  CHECK(differ.settlement == Settlement::disputed);
  CHECK(differ.standings.empty());
  const ProjectChanges decided = bench.compare(first, judged.range, {{1, 1}, {2, 0}, {3, 0}});
  CHECK(decided.settlement == Settlement::decided);
  CHECK(decided.refuted == std::vector<HostId>{HostId{1}});
  CHECK(bench.project.is_held(HostId{1}, ProjectBench::app, bench.now));
  CHECK_FALSE(bench.project.is_held(HostId{1}, other, bench.now));
  REQUIRE(decided.doubted.size() == 1);
  CHECK(decided.doubted.front().problem == third);
  CHECK(decided.doubted.front().range == doubted.range);
  CHECK(bench.stage(third).view().ledger().accepted().empty());
  CHECK(bench.stage(second).view().unit(same.id)->state != UnitState::open);
  CHECK(bench.stage(third).view().unit(elsewhere.id)->state == UnitState::open);
  CHECK(decided.stages.size() == 3);
}

TEST_CASE("newcomers of one party that say the same verify nothing, and others are asked") {
  ProjectBench bench;
  const ProblemId problem = bench.add_problem(1, 3, "adaptive");
  for (const std::int64_t host : {1, 2}) bench.add_host(host, {.network = "203.0.113.7"});
  const Unit unit = bench.take(problem, 1);
  (void)bench.deliver(problem, unit);
  const ProjectChanges same = bench.compare(problem, unit.range, {{1, 0}, {2, 0}});
  CHECK(same.settlement == Settlement::nothing);
  CHECK(same.standings.empty());
  CHECK(bench.is_disputed(problem, unit.range));
}

TEST_CASE("items on which no two hosts agree are set aside once all that are here have answered") {
  ProjectBench bench;
  const ProblemId problem = bench.add_problem(1, 3, "adaptive");
  for (std::int64_t host = 1; host <= 5; ++host) bench.add_host(host);
  const Unit unit = bench.take(problem, 1);
  (void)bench.deliver(problem, unit);
  const ProjectChanges none = bench.compare(problem, unit.range, {{1, 1}, {2, 2}, {3, 3}, {4, 4}, {5, 5}});
  CHECK(none.settlement == Settlement::undecided);
  CHECK(bench.stage(problem).view().ledger().set_aside().contains(unit.range));
}

TEST_CASE("before a stage is combined something of each newcomer's last delivery is audited") {
  ProjectBench bench;
  const ProblemId problem = bench.add_problem(1, 1, "adaptive");
  bench.add_host(1, {.own = true});
  bench.add_host(2);
  const Unit unit = bench.take(problem, 1);
  CHECK(bench.deliver(problem, unit).stages.empty());  // one of the project's own
  CHECK(bench.project.apply(CompletedEvent{problem, 1}, bench.now).stages.empty());
  bench.add_host(1);
  CHECK(bench.project.apply(CompletedEvent{problem, 1}, bench.now).stages.size() == 1);
  CHECK(bench.project.apply(CompletedEvent{problem, 1}, bench.now).stages.empty());  // it is under way
}

TEST_CASE("a stage that is read back asks again for the audits that no verdict answers") {
  ProjectBench bench;
  const ProblemId problem = bench.add_problem(1, 4, "quorum:2");
  for (const std::int64_t host : {1, 2}) bench.add_host(host);
  Changes changes;
  for (int item = 0; item < 4; ++item) {
    const Unit unit = bench.take(problem, 1);
    (void)bench.stage(problem).apply(CommitEvent{HostId{1}, unit.id, unit.range, true}, bench.now, changes);
  }
  bench.project.begin_stage(problem);
  const AuditedEvent event{problem, {{HostId{1}, {0, 2}, 1}, {HostId{1}, {2, 4}, 2}}, {{1, 3}}};
  CHECK(bench.project.apply(event, bench.now).stages.size() == 1);
  CHECK(bench.stage(problem).view().ledger().disputed().ranges() == std::vector<Range>{{0, 1}, {3, 4}});
}

TEST_CASE("only hosts that ask themselves and were heard of in the last hour are asked for opinions") {
  using Place = HostFacts::Place;
  ProjectBench bench;
  const ProblemId problem = bench.add_problem(1, 4, "adaptive");
  for (std::int64_t host = 1; host <= 8; ++host) bench.add_host(host);
  bench.add_host(9, {.place = Place::under_relay});
  bench.add_host(10, {.place = Place::gone});
  CHECK(bench.project.hosts_here(bench.now).size() == 8);
  CHECK(bench.project.verdict_terms(problem, bench.now).opinions_max == 8);
  bench.now += std::chrono::minutes{61};
  for (std::int64_t host = 1; host <= 6; ++host) bench.project.heard(HostId{host}, bench.now);
  CHECK(bench.project.hosts_here(bench.now).size() == 6);
  CHECK(bench.project.verdict_terms(problem, bench.now).opinions_max == 6);
}
