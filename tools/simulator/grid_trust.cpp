// The simulated server's side of policy::Project, which decides which results are believed: compares what
// hosts delivered, tells it, and does what it decided.
#include <algorithm>
#include <utility>

#include "tools/simulator/grid_loop.h"

namespace gleaner::simulator {

void GridLoop::set_trust() {
  trust_.known.resize(instance_.hosts.size());
  for (std::size_t id = 0; id < instance_.hosts.size(); ++id)
    project_.put_host(host_id(id), {.own = instance_.hosts[id].own});
  for (const GridWork& job : jobs_)
    if (!job.problem.validation.empty()) trust_.validates = trust_.liars = true;
}

void GridLoop::tell_project(std::size_t problem) {
  const auto validation = policy::parse_validation(jobs_[problem].problem.validation);
  constexpr policy::Validation compared_only{.kind = policy::Validation::Kind::none};
  project_.put_problem(problem_id(problem),
                       {application_id(problem), validation.ok() ? *validation : compared_only});
}

void GridLoop::delivered(const Commit& commit, HostId host, const policy::CommitOutcome& outcome) {
  const ProblemId id = problem_id(commit.problem);
  Known& known = trust_.known[index_of(host)];
  const Cheating& cheating = instance_.hosts[index_of(host)].cheating;
  const auto answer = [&](std::int64_t item) {
    if (commit.wrong) return commit.unit.value;
    return answer_of(cheating, host, item, known.delivered + item - commit.range.begin, instance_.seed);
  };
  Range run{commit.range.begin, commit.range.begin};
  while (trust_.liars && run.begin < commit.range.end) {
    const std::int64_t given = answer(run.begin);
    if (given != 0 && known.lied_at < 0) known.lied_at = now_;
    do {
      ++run.end;
    } while (run.end < commit.range.end && answer(run.end) == given);
    results_.deliver(id, run, host, given);
    run.begin = run.end;
  }
  known.delivered += commit.range.size();
  results_.counted(id, host, outcome, trust_.draws.next(), stamp());
}

void GridLoop::perform(policy::ProjectChanges changes) {
  for (const HostId host : changes.refuted) {
    Known& known = trust_.known[index_of(host)];
    if (known.found_at < 0) known.found_at = now_;
    if (instance_.hosts[index_of(host)].cheating.returns) project_.forget_standings(host);
    put_host(index_of(host));
  }
  for (const auto& doubted : changes.doubted) {
    const auto index = static_cast<std::size_t>(doubted.problem.value - 1);
    accepted_work_ -= jobs_[index].costs.of(doubted.range);
    problems_[index].accepted.remove(doubted.range);
  }
  for (auto& [problem, changed] : changes.stages) {
    scratch_.changes = std::move(changed);
    note_changes();
  }
}

void GridLoop::sum_trust() {
  GridTrust& trust = run_.trust;
  for (const Known& known : trust_.known) {
    const bool lied = known.lied_at >= 0, found = known.found_at >= 0;
    trust.liars += lied ? 1 : 0;
    trust.found += lied && found ? 1 : 0;
    trust.honest_found += !lied && found ? 1 : 0;
    if (lied && found) trust.detection_seconds += std::max(0.0, known.found_at - known.lied_at);
  }
  if (trust.found > 0) trust.detection_seconds /= static_cast<double>(trust.found);
}

}  // namespace gleaner::simulator
