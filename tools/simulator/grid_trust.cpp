// Which results the simulated server believes, as the live one does (server/service/reviews.cpp and
// trust.cpp).
#include <algorithm>
#include <set>

#include "server/policy/trust/witness.h"
#include "tools/simulator/grid_loop.h"

namespace gleaner::simulator {

void GridLoop::set_trust() {
  trust_.known.resize(instance_.hosts.size());
  for (std::size_t id = 0; id < instance_.hosts.size(); ++id)
    trust_.reputation.set_own(host_id(id), instance_.hosts[id].own);
  for (std::size_t i = 0; i < problems_.size(); ++i) {
    const auto validation = policy::parse_validation(jobs_[i].problem.validation);
    if (!validation.ok()) continue;  // none is named
    trust_.validates = trust_.liars = true;
    problems_[i].audits.emplace(application_id(i), *validation);
    const policy::TrustRules& rules = trust_.reputation.rules();
    problems_[i].terms = {rules.odds, rules.coincidence, validation->quorum};
    problems_[i].terms.opinions_max = policy::opinions_max(instance_.hosts.size(), validation->quorum);
  }
}

void GridLoop::delivered(const Commit& commit, HostId host, const policy::CommitOutcome& outcome) {
  SimulatedProblem& problem = problems_[commit.problem];
  Known& known = trust_.known[index_of(host)];
  const Cheating& cheating = instance_.hosts[index_of(host)].cheating;
  const auto answer = [&](std::int64_t item) {
    if (commit.wrong) return commit.unit.value;
    return answer_of(cheating, host, item, known.delivered + item - commit.range.begin, instance_.seed);
  };
  Range run{commit.range.begin, commit.range.begin};
  while (run.begin < commit.range.end) {
    const std::int64_t given = answer(run.begin);
    if (given != 0 && known.lied_at < 0) known.lied_at = now_;
    do {
      ++run.end;
    } while (run.end < commit.range.end && answer(run.end) == given);
    problem.opinions.deliver(run, host, given);
    run.begin = run.end;
  }
  known.delivered += commit.range.size();
  judge(commit.problem, outcome.overlapping);
  if (!problem.audits) return;
  for (const Range range : outcome.accepted)
    ask_for(commit.problem, problem.audits->accepted(host, range, trust_.reputation, trust_.draws, stamp()));
}

void GridLoop::ask_for(std::size_t problem, const std::vector<policy::Audit>& audits) {
  for (const policy::Audit& audit : audits) {
    const policy::DisputeEvent event{audit.range, {audit.host}};
    static_cast<void>(problems_[problem].recorded->play(event, stamp()));
  }
}

void GridLoop::judge(std::size_t index, const std::vector<Range>& ranges) {
  SimulatedProblem& problem = problems_[index];
  const auto witness = [&](HostId host) {
    if (!trust_.validates) return policy::Opinion{host, {}};
    return policy::Witnesses{trust_.reputation, trust_.parties, application_id(index),
                             problem.terms.agree_min, stamp()}
        .of(host);
  };
  for (Range left : ranges) {
    while (const auto finding = problem.opinions.review(left, problem.terms, witness)) {
      left.begin = finding->range.end;
      settle(index, *finding);
    }
  }
}

void GridLoop::settle(std::size_t index, const Opinions::Finding& finding) {
  SimulatedProblem& problem = problems_[index];
  const bool pending = problem.audits && problem.audits->is_pending(finding.range);
  policy::StageEvent event = policy::ResolveEvent{finding.range, true};
  if (finding.verdict.kind == policy::VerdictKind::need_another) {
    policy::DisputeEvent dispute{finding.range, {}};
    for (const policy::Opinion& opinion : finding.opinions) dispute.hosts.push_back(opinion.host);
    event = std::move(dispute);
  } else if (finding.verdict.kind == policy::VerdictKind::undecided) {
    event = policy::ResolveEvent{finding.range, false};
  }
  if (finding.verdict.kind != policy::VerdictKind::agree || pending)
    static_cast<void>(problem.recorded->play(event, stamp()));
  if (problem.audits) learn(index, finding);
}

void GridLoop::learn(std::size_t index, const Opinions::Finding& finding) {
  std::set<HostId> agreed, refuted;
  for (const std::size_t right : finding.verdict.right) agreed.insert(finding.opinions[right].host);
  for (const std::size_t wrong : finding.verdict.wrong) refuted.insert(finding.opinions[wrong].host);
  if (agreed.size() + refuted.size() < 2) return;
  problems_[index].audits->verified(finding.range);
  for (const HostId host : agreed)
    trust_.reputation.verified(host, application_id(index), static_cast<double>(finding.range.size()),
                               stamp());
  for (const HostId host : refuted) {
    trust_.reputation.found_wrong(host, application_id(index), stamp());
    distrust(host);
  }
}

// It loses its units, and all that it delivered and nobody verified.
void GridLoop::distrust(HostId host) {
  Known& known = trust_.known[index_of(host)];
  if (known.found_at < 0) known.found_at = now_;
  for (const Held& held : std::vector<Held>(server_.held[index_of(host)])) {
    policy::RecordedStage& stage = *problems_[held.problem].recorded;
    const policy::Unit* unit = stage.view().unit(held.unit);
    if (unit == nullptr || unit->state != policy::UnitState::open) continue;
    stage.give_back(host, held.unit, policy::Stage::GiveBack::returned, 0,
                    "the host's results were found wrong", stamp(), scratch_.changes);
    note_changes();
  }
  for (SimulatedProblem& problem : problems_) {
    if (!problem.audits || problem.over || problem.recorded == nullptr) continue;
    const auto index = static_cast<std::size_t>(&problem - problems_.data());
    for (const Range range : problem.audits->doubtful(host)) {
      accepted_work_ -= jobs_[index].costs.of(range);
      problem.accepted.remove(range);
      problem.opinions.forget(range);
      problem.audits->reopened(range);
      const policy::RejectEvent event{range, "its host was found to deliver wrong results"};
      static_cast<void>(problem.recorded->play(event, stamp()));
    }
  }
  if (instance_.hosts[index_of(host)].cheating.returns) trust_.reputation.forget_host(host);
}

// What is to be computed again before the stage may be combined.
bool GridLoop::audits_rest(std::size_t index) {
  SimulatedProblem& problem = problems_[index];
  if (!problem.audits) return false;
  const auto audits = problem.audits->closing(trust_.reputation, trust_.draws, stamp());
  ask_for(index, audits);
  return !audits.empty();
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
