// One request: a host asks for work for some of its slots.
#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "server/policy/dispatch/dispatch.h"
#include "shared/base/capability.h"
#include "shared/base/check.h"
#include "shared/protocol/pacing.h"

namespace gleaner::policy {
namespace {

// Where no problem has anything for a host, work may come back at any moment (a stalled holder): it asks
// again as often as the stages find useful.
constexpr double nothing_retry = 5, soonest_retry = 0.25, hold_retry = 60;
// A project that had work a minute ago probably has more soon: a person who calls a function again, a flow's
// next node. Its own hosts ask sooner, all of them together at most as often as resting ones do (pacing.h).
constexpr Duration lately = std::chrono::minutes{1};
constexpr double lately_retry = 0.5, requests_per_second = 200;

template <typename List, typename Value>
bool contains(const List& list, const Value& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

// What a stranger may ask for: as many slots as it enrolled cores; what it says of itself counts for nothing.
WorkDemand bounded(const WorkDemand& demand, const HostTerms& terms) {
  WorkDemand bounded = demand;
  bounded.proposal.performance = bounded.proposal.watts = 0;
  const int cores = std::max(1, terms.cores);
  bounded.offer.cores = std::min(bounded.offer.cores, cores);
  std::erase_if(bounded.slots, [&](const SlotDemand& slot) { return slot.slot < 0 || slot.slot >= cores; });
  return bounded;
}

}  // namespace

// What one request has seen so far.
struct Dispatch::Attempt {
  const WorkDemand& demand;  // as far as the host may ask
  Host& host;
  Timestamp now;
  Served& served;
  // Of problems that have work, and that this host cannot compute: what it lacks, and for which platforms.
  const KernelNeeds* unmet = nullptr;
  const KernelNeeds* foreign = nullptr;

  void nothing(double retry_after, const std::string& reason) {
    if (served.retry_after > 0 && retry_after >= served.retry_after) return;
    served.retry_after = retry_after;
    served.reason = reason;
  }
};

namespace {

bool has_kernel(const KernelNeeds& needs, const HostOffer& offer) {
  return contains(needs.platforms, "any") ||
         std::any_of(offer.platforms.begin(), offer.platforms.end(),
                     [&](const std::string& one) { return contains(needs.platforms, one); });
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

}  // namespace

bool fits(const KernelNeeds& needs, const HostOffer& offer) {
  if (!has_kernel(needs, offer)) return false;
  if (offer.applications && !contains(*offer.applications, needs.application)) return false;
  if (offer.memory_bytes > 0 && needs.memory_bytes > offer.memory_bytes) return false;
  if (needs.threads > offer.cores) return false;
  return are_met(needs.capabilities, offer.capabilities);
}

bool Dispatch::can_compute(const Host& host, ProblemId id, const Problem& problem,
                           const WorkDemand& demand) const {
  return !contains(host.terms.barred, id) && fits(problem.terms.needs, demand.offer);
}

void Dispatch::serve(const WorkDemand& asked, Timestamp now, Served& served) {
  Host& host = hosts_[asked.host];
  std::optional<WorkDemand> less;
  if (!host.terms.own) less = bounded(asked, host.terms);
  const WorkDemand& demand = less ? *less : asked;
  host.performance = demand.proposal.performance > 0 ? demand.proposal.performance : benchmark_of(host.terms);
  host.watts = demand.proposal.watts;
  if (!host.terms.on_hold.empty()) {
    served.retry_after = hold_retry;
    served.reason = "the project has put this host on hold: " + host.terms.on_hold;
    return;
  }
  if (host.terms.held_until > now) {
    served.retry_after = to_seconds(host.terms.held_until - now);
    served.reason = "held back for " + std::to_string(static_cast<int>(served.retry_after) + 1) +
                    " s after failures: " + host.terms.held_because;
    return;
  }
  shares_.settle(unit_finder(), now);
  Attempt attempt{demand, host, now, served};
  for (const SlotDemand& slot : demand.slots) serve_slot(attempt, slot, demand.units[served.grants.size()]);
  if (served.grants.size() == demand.slots.size() || served.retry_after > 0) return;
  const KernelNeeds* unmet = attempt.unmet;
  std::string reason = "none of its problems has any for this host";
  if (unmet != nullptr)
    reason =
        unmet->application + " needs " + words_of_needs(unmet->capabilities) + ", which this computer lacks";
  else if (attempt.foreign != nullptr)
    reason = attempt.foreign->application + " has kernels for " + joined(attempt.foreign->platforms) +
             ", and this computer runs " + joined(demand.offer.platforms);
  attempt.nothing(rest_seconds(host, now), reason);
  for (const auto& [id, problem] : problems_) {
    if (problem.terms.running && problem.stage)
      served.retry_after =
          std::min(served.retry_after, std::max(soonest_retry, problem.stage->view().heartbeat_seconds(now)));
  }
}

double Dispatch::rest_seconds(const Host& host, Timestamp now) const {
  if (!host.terms.own || !worked_at_ || now - *worked_at_ > lately) return nothing_retry;
  return std::clamp(static_cast<double>(hosts_.size()) / requests_per_second, lately_retry, nothing_retry);
}

void Dispatch::serve_slot(Attempt& attempt, const SlotDemand& slot, UnitId unit) {
  std::vector<ProblemId> candidates;
  for (const auto& [id, problem] : problems_) {
    if (!problem.terms.running || !problem.stage) continue;
    const KernelNeeds& needs = problem.terms.needs;
    if (!has_kernel(needs, attempt.demand.offer))
      attempt.foreign = &needs;
    else if (!are_met(needs.capabilities, attempt.demand.offer.capabilities))
      attempt.unmet = &needs;
    if (!can_compute(attempt.host, id, problem, attempt.demand)) continue;
    if (contains(attempt.demand.awaited, id) && problem.stage->view().ledger().free().empty()) continue;
    if (problem.stage->view().has_work_for(attempt.demand.host, attempt.now)) candidates.push_back(id);
  }
  std::set<std::string> asked;  // mapping strategies, each once
  for (const ProblemId id : shares_.order(candidates, attempt.demand.host, slot.slot, attempt.now)) {
    const Problem& problem = problems_.at(id);
    if (!problem.mapped) {
      if (ask(attempt, slot, id, unit, nullptr)) return;
      continue;
    }
    const std::string& strategy = problem.terms.strategy;
    if (!asked.insert(strategy).second) {
      if (problem.stage->view().ledger().free().empty() && ask(attempt, slot, id, unit, nullptr)) return;
      continue;
    }
    MappingGroup& plans = group(strategy);
    std::set<ProblemId> cannot;
    const auto members = mapped(strategy);
    for (const MappedProblem& member : members) {
      if (!can_compute(attempt.host, member.id, problems_.at(member.id), attempt.demand))
        cannot.insert(member.id);
    }
    plans.rule_out(attempt.demand.host, std::move(cannot));
    const PlannedTask planned = plans.next(
        {attempt.demand.host, slot.slot}, slot.urgent, members, [&] { return workers(plans, attempt.now); },
        rules_, attempt.now, jobs_);
    if (planned.range.empty() && planned.wait > 0) {
      attempt.nothing(planned.wait, "the plan has nothing for this slot now");
      continue;
    }
    if (ask(attempt, slot, planned.range.empty() ? id : planned.problem, unit, &planned)) return;
  }
}

bool Dispatch::ask(Attempt& attempt, const SlotDemand& slot, ProblemId id, UnitId unit,
                   const PlannedTask* planned) {
  const WorkDemand& demand = attempt.demand;
  Problem& problem = problems_.at(id);
  Requester requester;
  requester.host = demand.host;
  requester.slot = slot.slot;
  requester.urgent = slot.urgent;
  requester.slots = demand.relay ? 1 : std::max(1, demand.offer.cores);  // a relay is one slot
  requester.performance = attempt.host.performance;
  requester.queue_unloaded = demand.proposal.queue_unloaded;
  requester.queue_current = demand.proposal.queue_current;
  requester.proposed_items = demand.proposal.items;
  requester.watts = demand.proposal.watts;
  requester.stranger = !attempt.host.terms.own;
  requester.unit = unit;
  requester.relay = demand.relay;
  if (planned != nullptr) {
    requester.planned = planned->range;
    if (!planned->range.empty()) requester.planned_reason = group(problem.terms.strategy).queues().reason();
  }
  auto& [changed_problem, changes] = attempt.served.changes.emplace_back(id, Changes{});
  const Grant grant = problem.stage->apply(RequestEvent{requester}, attempt.now, changes);
  if (!grant.unit) {
    attempt.nothing(grant.retry_after, grant.reason);
    return false;
  }
  const Unit& granted = *problem.stage->view().unit(*grant.unit);
  shares_.took(id, granted, slot.urgent, attempt.now);
  if (problem.mapped && granted.kind == UnitKind::fresh)
    group(problem.terms.strategy)
        .begun(id, granted, problem.stage->view().ledger().costs().of(granted.range),
               benchmark_of(attempt.host.terms));
  attempt.served.grants.push_back({slot.slot, id, *grant.unit});
  return true;
}

// When the host will ask again for slots that got nothing: problems that begin before count on it.
void Dispatch::note_waiting(const WorkDemand& demand, const Served& served, Timestamp now) {
  Host& host = hosts_[demand.host];
  std::vector<Waiting> waiting;
  for (const SlotDemand& slot : demand.slots) {
    const auto before = std::find_if(host.waiting.begin(), host.waiting.end(),
                                     [&](const Waiting& one) { return one.slot == slot.slot; });
    double waited = 0;
    if (before != host.waiting.end()) {
      waited = to_seconds(now - before->asked_at);
      host.waiting.erase(before);
    }
    const bool got = std::any_of(served.grants.begin(), served.grants.end(),
                                 [&](const SlotGrant& grant) { return grant.slot == slot.slot; });
    if (got || !slot.urgent) continue;
    const double wait =
        std::max(served.retry_after, std::min(protocol::rest_growth * waited, protocol::rest_max));
    waiting.push_back({slot.slot, now, now + from_seconds(protocol::latest_return(wait))});
  }
  host.waiting.insert(host.waiting.end(), waiting.begin(), waiting.end());
}

}  // namespace gleaner::policy
