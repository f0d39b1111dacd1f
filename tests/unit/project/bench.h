// A project with problems of items that each cost 1, and hosts that take units of a size that the test names.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "server/policy/project/project.h"
#include "tests/catch.h"

namespace gleaner::policy {

struct ProjectBench {
  static constexpr ApplicationId app{1};

  explicit ProjectBench(Rule rule = Rule::everything) : project(PlanRules{}, {}, rule) {}

  Project project;
  Timestamp now{std::chrono::hours{24 * 20'000}};
  std::int64_t units = 0;

  ProblemId add_problem(std::int64_t number, std::int64_t items, const std::string& validation,
                        ApplicationId application = app, const std::string& sizing = "ss") {
    const ProblemId id{number};
    const auto read = parse_validation(validation);
    REQUIRE(read.ok());
    project.put_problem(id, {application, *read});
    StageSetup setup;
    setup.items = items;
    setup.sizing = sizing;
    project.dispatch().apply(BeginStageEvent{id, setup}, now);
    project.begin_stage(id);
    return id;
  }
  void add_host(std::int64_t number, HostFacts facts = {}) {
    facts.heard = now;
    project.put_host(HostId{number}, facts);
  }
  [[nodiscard]] RecordedStage& stage(ProblemId problem) { return *project.dispatch().stage(problem); }
  Unit take(ProblemId problem, std::int64_t host) {
    Requester requester;
    requester.host = HostId{host};
    requester.performance = 1;
    requester.unit = UnitId{++units};
    Changes changes;
    const Grant grant = stage(problem).apply(RequestEvent{requester}, now, changes);
    REQUIRE(grant.unit);
    return *stage(problem).view().unit(*grant.unit);
  }
  ProjectChanges deliver(ProblemId problem, const Unit& unit) {
    Changes changes;
    const auto outcome =
        stage(problem).apply(CommitEvent{unit.host, unit.id, unit.range, true}, now, changes);
    REQUIRE(outcome.refusal.empty());
    return project.apply(DeliveredEvent{problem, unit.host, outcome.accepted, 7}, now);
  }
  // Of these hosts, in order, each with its answer: those that are equal agree.
  ProjectChanges compare(ProblemId problem, Range range,
                         const std::vector<std::pair<std::int64_t, int>>& answers) {
    ComparedEvent event{problem, range, {}, {}};
    for (const auto& [host, answer] : answers)
      event.opinions.push_back(project.witnesses(problem, now).of(HostId{host}));
    event.verdict = judge(
        event.opinions, [&](std::size_t a, std::size_t b) { return answers[a].second == answers[b].second; },
        project.verdict_terms(problem, now));
    return project.apply(event, now);
  }
  ProjectChanges fail(ProblemId problem, const Unit& unit,
                      protocol::FailureKind kind = protocol::FailureKind::kernel_crashed,
                      std::int64_t below = 0) {
    FailedEvent event{problem, unit.host, unit.id, below > 0 ? HostId{below} : unit.host};
    event.kind = kind;
    event.item = unit.range.begin;
    event.message = "signal 11";
    event.items_accepted = 1000;
    return project.apply(event, now);
  }
  [[nodiscard]] bool is_disputed(ProblemId problem, Range range) {
    return stage(problem).view().ledger().disputed().contains(range);
  }
};

}  // namespace gleaner::policy
