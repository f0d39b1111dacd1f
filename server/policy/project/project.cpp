#include "server/policy/project/project.h"

#include <algorithm>
#include <utility>

namespace gleaner::policy {

Changes& ProjectChanges::of(ProblemId problem) {
  const auto found =
      std::find_if(stages.begin(), stages.end(), [&](const auto& entry) { return entry.first == problem; });
  return found != stages.end() ? found->second : stages.emplace_back(problem, Changes{}).second;
}

Project::Project(const PlanRules& rules, LogSink log, Rule rule)
    : rule_(rule), dispatch_(std::make_unique<Dispatch>(rules, std::move(log))) {}

void Project::restart(const PlanRules& rules, LogSink log) {
  dispatch_ = std::make_unique<Dispatch>(rules, std::move(log));
}

void Project::put_problem(ProblemId problem, const ProblemFacts& facts) {
  problems_[problem].facts = facts;
}

void Project::begin_stage(ProblemId problem) {
  Problem& known = problems_.at(problem);
  known.audits.emplace(known.facts.application, known.facts.validation);
}

bool Project::audits(ProblemId problem) const {
  const auto& audits = problems_.at(problem).audits;
  return audits && audits->wanted();
}

void Project::lost(ProblemId problem, Range range) {
  if (auto& audits = problems_.at(problem).audits) audits->reopened(range);
}

void Project::put_host(HostId host, const HostFacts& facts) {
  hosts_[host] = {facts.place, facts.heard};
  reputation_.set_own(host, facts.own);
  if (facts.own)
    own_.insert(host);
  else
    own_.erase(host);
  parties_.add(host, facts.owner, facts.network);
}

void Project::heard(HostId host, Timestamp now) {
  hosts_[host].heard = now;
}

void Project::restore(HostId host, ApplicationId application, const Standing& standing) {
  reputation_.restore(host, application, standing);
}

bool Project::is_held(HostId host, ApplicationId application, Timestamp now) const {
  return blame_.held(host, application, now) || reputation_.held(host, application, now);
}

}  // namespace gleaner::policy
