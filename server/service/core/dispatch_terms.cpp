#include "server/service/core/dispatch_terms.h"

#include "server/policy/host_health.h"
#include "server/service/core/certified.h"

namespace gleaner::service {

policy::ProblemTerms terms_of(const Problem& problem) {
  policy::ProblemTerms terms;
  terms.strategy = problem.row.strategy;
  terms.share = {problem.row.weight, problem.row.priority};
  terms.running = problem.row.state == protocol::ProblemState::running;
  terms.needs.application = problem.manifest.name;
  for (const auto& [platform, kernel] : problem.manifest.kernels) terms.needs.platforms.push_back(platform);
  terms.needs.memory_bytes = problem.manifest.memory_bytes;
  terms.needs.threads = problem.manifest.threads;
  terms.needs.capabilities = problem.manifest.needs;
  return terms;
}

policy::HostTerms terms_of(const Model& model, const Host& host, Timestamp now) {
  policy::HostTerms terms{host.row.mflops, host.row.health.blocked_until, host.row.health.reason, {}};
  terms.own = model.project->reputation().is_own(host.row.id);
  terms.cores = host.row.cores;
  terms.on_hold = host.row.on_hold;
  const bool own_grants = model.origin->plans();  // a relay's are as good as its parent's
  for (const auto& [id, problem] : model.problems)
    if ((own_grants && !over(problem.row.state) &&
         !check_signer(model.applications.at(problem.row.application), now).ok()) ||
        model.project->is_held(host.row.id, problem.row.application, now))
      terms.barred.push_back(id);
  return terms;
}

policy::ProblemFacts facts_of(const Problem& problem) {
  const auto validation = policy::parse_validation(problem.row.validation);
  return {problem.row.application, validation.ok() ? *validation : policy::Validation{},
          problem.row.state == protocol::ProblemState::running};
}

void tell_dispatch(Transaction& tx, const Problem& problem) {
  tx.model.project->put_problem(problem.row.id, facts_of(problem));
  tx.model.project->dispatch().apply(policy::ProblemEvent{problem.row.id, terms_of(problem)}, tx.now);
}

void tell_dispatch(Transaction& tx, const Host& host) {
  if (host.row.relay != HostId{}) return;  // its relay asks for it
  tx.model.project->dispatch().apply(policy::HostEvent{host.row.id, terms_of(tx.model, host, tx.now)},
                                     tx.now);
}

std::string held_back(const Model& model, const Host& host, Timestamp now) {
  if (!host.row.on_hold.empty()) return "the project has put it on hold: " + host.row.on_hold;
  if (policy::blocked_for(host.row.health, now)) return "held back after failures: " + host.row.health.reason;
  const auto held = model.project->blame().held_from(host.row.id, now);
  if (!held) return {};
  const auto& [id, hold] = *held;
  const auto application = model.applications.find(id);
  if (application == model.applications.end()) return {};
  const auto& row = application->second.row;
  return "held back from " + row.name + "@" + row.version + ": " + hold.reason;
}

}  // namespace gleaner::service
