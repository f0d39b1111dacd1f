// Which results are believed: what of a delivery another host computes again, what a verdict means for items
// and hosts, and what is taken back from a host that was found wrong.
#include <algorithm>
#include <iterator>
#include <set>

#include "server/policy/project/project.h"
#include "shared/base/random.h"

namespace gleaner::policy {
namespace {

using Settlement = ProjectChanges::Settlement;

// A host that was heard of so lately may be asked for an opinion.
constexpr std::chrono::hours here_for{1};

// Several newcomers of one party say the same, and nobody else has: that verifies nothing.
bool verifies_nothing(const ComparedEvent& event) {
  const auto& opinions = event.opinions;
  return event.verdict.kind == VerdictKind::agree && !event.verdict.independent &&
         std::any_of(opinions.begin(), opinions.end(),
                     [&](const Opinion& opinion) { return opinion.host != opinions.front().host; });
}

std::vector<HostId> hosts_of(const std::vector<Opinion>& opinions) {
  std::vector<HostId> hosts;
  for (const Opinion& opinion : opinions) hosts.push_back(opinion.host);
  return hosts;
}

std::vector<UnitId> units_of(const Stage& stage, HostId host) {
  std::vector<UnitId> units;
  for (const Unit* unit : stage.open_units())
    if (unit->host == host) units.push_back(unit->id);
  return units;
}

}  // namespace

bool Project::is_here(const Presence& host, Timestamp now) const {
  return host.place == HostFacts::Place::here && now - host.heard < here_for;
}

std::vector<HostId> Project::hosts_here(Timestamp now) const {
  std::vector<HostId> here;
  for (const auto& [id, host] : hosts_)
    if (is_here(host, now)) here.push_back(id);
  return here;
}

bool Project::own_host_here(Timestamp now) const {
  return std::any_of(own_.begin(), own_.end(),
                     [&](HostId id) { return reputation_.is_own(id) && is_here(hosts_.at(id), now); });
}

const Validation& Project::validation(ProblemId problem) const {
  return problems_.at(problem).facts.validation;
}

Witnesses Project::witnesses(ProblemId problem, Timestamp now) const {
  const ProblemFacts& facts = problems_.at(problem).facts;
  return {reputation_, parties_, facts.application, facts.validation.quorum, now};
}

VerdictTerms Project::verdict_terms(ProblemId problem, Timestamp now) const {
  const TrustRules& rules = reputation_.rules();
  const int quorum = validation(problem).quorum;
  std::size_t here = 0;
  for (const auto& [id, host] : hosts_) {
    if (is_here(host, now)) ++here;
    if (here == opinions_most) break;
  }
  return {rules.odds, rules.coincidence, quorum, opinions_max(here, quorum)};
}

// Partners of `asked` would add nothing. Spot checks are for the project's own hosts, if there are any; one
// that does not come (its user works, or it is retired) holds nothing up for longer than they may take.
Unasked Project::unasked(ProblemId problem, const std::vector<HostId>& asked, Timestamp now) const {
  Unasked others{witnesses(problem, now).partners(asked), {}};
  if (validation(problem).kind == Validation::Kind::spot && own_host_here(now))
    others.strangers_until = now + here_for;
  return others;
}

void Project::dispute(ProblemId problem, Range range, const std::vector<HostId>& asked, Timestamp now,
                      ProjectChanges& changes) {
  dispatch_->stage(problem)->apply(DisputeEvent{range, asked, unasked(problem, asked, now)}, now,
                                   changes.of(problem));
}

void Project::ask_for(ProblemId problem, const std::vector<Audit>& audits, Timestamp now,
                      ProjectChanges& changes) {
  for (const Audit& audit : audits) dispute(problem, audit.range, {audit.host}, now, changes);
}

ProjectChanges Project::apply(const DeliveredEvent& event, Timestamp now) {
  ProjectChanges changes;
  Problem& problem = problems_.at(event.problem);
  blame_.delivered(event.host, problem.facts.application);
  if (!problem.audits) return changes;
  Random draw(event.draw);
  std::vector<Audit> audits;
  for (const Range range : event.accepted) {
    const auto drawn = problem.audits->accepted(event.host, range, reputation_, draw, now);
    audits.insert(audits.end(), drawn.begin(), drawn.end());
  }
  ask_for(event.problem, audits, now, changes);
  return changes;
}

ProjectChanges Project::apply(const CompletedEvent& event, Timestamp now) {
  ProjectChanges changes;
  auto& audits = problems_.at(event.problem).audits;
  if (!audits) return changes;
  Random draw(event.draw);
  ask_for(event.problem, audits->closing(reputation_, draw, now), now, changes);
  return changes;
}

ProjectChanges Project::apply(const AuditedEvent& event, Timestamp now) {
  ProjectChanges changes;
  Audits& audits = *problems_.at(event.problem).audits;
  std::vector<Audit> wanted;
  for (const auto& delivery : event.deliveries) {
    Random draw(delivery.draw);
    const auto drawn = audits.accepted(delivery.host, delivery.accepted, reputation_, draw, now);
    wanted.insert(wanted.end(), drawn.begin(), drawn.end());
  }
  RangeSet verified;
  for (const Range range : event.verified) verified.add(range);
  for (const Range range : verified.ranges()) audits.verified(range);
  std::vector<Audit> left;
  for (const Audit& audit : wanted)
    for (const Range range : verified.missing(audit.range)) left.push_back({range, audit.host});
  ask_for(event.problem, left, now, changes);
  return changes;
}

ProjectChanges Project::apply(const ComparedEvent& event, Timestamp now) {
  dispatch_->apply(event, now);
  ProjectChanges changes;
  if (verifies_nothing(event)) {
    if (dispatch_->stage(event.problem)->view().ledger().disputed().overlaps(event.range))
      dispute(event.problem, event.range, hosts_of(event.opinions), now, changes);
    return changes;
  }
  settle(event, now, changes);
  learn(event, now, changes);
  return changes;
}

void Project::settle(const ComparedEvent& event, Timestamp now, ProjectChanges& changes) {
  RecordedStage& stage = *dispatch_->stage(event.problem);
  switch (event.verdict.kind) {
    case VerdictKind::need_another:
      changes.settlement = Settlement::disputed;
      return dispute(event.problem, event.range, hosts_of(event.opinions), now, changes);
    case VerdictKind::agree:
      changes.settlement = Settlement::agreed;
      // Of an audit, or of a check that was open when the server stopped.
      if (stage.view().ledger().disputed().overlaps(event.range))
        stage.apply(ResolveEvent{event.range, true}, now, changes.of(event.problem));
      break;
    case VerdictKind::decided:
      changes.settlement = Settlement::decided;
      stage.apply(ResolveEvent{event.range, true}, now, changes.of(event.problem));
      break;
    case VerdictKind::undecided:
      changes.settlement = Settlement::undecided;
      stage.apply(ResolveEvent{event.range, false}, now, changes.of(event.problem));
      break;
  }
  if (auto& audits = problems_.at(event.problem).audits) audits->verified(event.range);
}

void Project::learn(const ComparedEvent& event, Timestamp now, ProjectChanges& changes) {
  std::set<HostId> agreed, refuted;
  for (const std::size_t index : event.verdict.right) agreed.insert(event.opinions[index].host);
  for (const std::size_t index : event.verdict.wrong) refuted.insert(event.opinions[index].host);
  if (agreed.size() + refuted.size() < 2 || !event.verdict.independent) return;
  Problem& problem = problems_.at(event.problem);
  const ApplicationId application = problem.facts.application;
  if (problem.audits) problem.audits->verified(event.range);
  const auto items = static_cast<double>(event.range.size());
  for (const HostId host : agreed)
    changes.standings.push_back({host, application, reputation_.verified(host, application, items, now)});
  for (const HostId host : refuted) {
    changes.refuted.push_back(host);
    changes.standings.push_back({host, application, reputation_.found_wrong(host, application, now)});
    distrust(host, application, now, changes);
  }
}

// It loses its open units of the application, whose results would have to be computed again, and, of every
// problem, what it delivered and nobody verified.
void Project::distrust(HostId host, ApplicationId application, Timestamp now, ProjectChanges& changes) {
  for (auto& [id, problem] : problems_) {
    RecordedStage* stage = dispatch_->stage(id);
    if (stage == nullptr) continue;
    if (problem.facts.application == application)
      for (const UnitId unit : units_of(stage->view(), host))
        stage->apply(GiveBackEvent{host, unit, GiveBack::returned, 0, "the host's results were found wrong"},
                     now, changes.of(id));
    if (!problem.audits) continue;
    for (const Range range : problem.audits->doubtful(host)) {
      changes.doubted.push_back({id, host, range});
      problem.audits->reopened(range);
      stage->count_use(host, range, Stage::Use::none, changes.of(id));
      stage->apply(RejectEvent{range, "its host was found to deliver wrong results"}, now, changes.of(id));
    }
  }
}

}  // namespace gleaner::policy
