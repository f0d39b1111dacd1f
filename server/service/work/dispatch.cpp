#include "server/service/work/dispatch.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "server/policy/dispatch/dispatch.h"
#include "server/service/core/certified.h"
#include "server/service/core/dispatch_terms.h"
#include "server/service/core/stage_changes.h"
#include "shared/crypto/keys.h"
#include "shared/protocol/codec.h"

namespace gleaner::service {
namespace {

// When hosts that were refused work for want of a certificate ask again: soon, for it may be renewed any
// time.
constexpr double uncertified_pause_seconds = 20;

policy::WorkDemand demand_of(const Host& host, const protocol::WorkRequest& request) {
  policy::WorkDemand demand;
  demand.host = host.row.id;
  demand.slots = request.slots;
  demand.offer = {request.platforms, request.applications, request.memory_bytes, request.cores,
                  request.capabilities};
  demand.proposal = request.proposal;
  if (const auto& offer = request.relay; offer && host.row.children > 0) {
    demand.relay = policy::RelayOffer{offer->rate, offer->slots};
    demand.proposal.performance = offer->performance;
  }
  return demand;
}

const std::shared_ptr<const SharedContext>& context_of(const Model& model, Problem& problem) {
  if (!problem.context || problem.context->application != problem.row.application) {
    const auto& application = model.applications.at(problem.row.application).row;
    const Bytes text = protocol::encode(protocol::GrantContext{problem.row.id, application.statement,
                                                               application.signer, problem.row.parameters});
    problem.context = std::make_shared<const SharedContext>(
        SharedContext{problem.row.application, text, crypto::sha256_hex(text)});
  }
  return problem.context;
}

// What it has in common with the problem's other grants: in itself, or named and told with the first.
void say_context(const Transaction& tx, Problem& problem, const protocol::WorkRequest& request,
                 WorkOutcome& outcome) {
  protocol::Grant& grant = outcome.grants.back();
  if (!request.contexts) {
    const auto& application = tx.model.applications.at(problem.row.application).row;
    grant.application = application.statement;
    grant.signer = application.signer;
    grant.parameters = problem.row.parameters;
    grant.parameters_digest = problem.parameters_digest;
    return;
  }
  const auto& context = context_of(tx.model, problem);
  grant.context = context->digest;
  const bool known = std::ranges::find(*request.contexts, context->digest) != request.contexts->end();
  const bool told =
      std::ranges::any_of(outcome.contexts, [&](const auto& one) { return one.text == context; });
  if (!known && !told) outcome.contexts.push_back({outcome.grants.size() - 1, context});
}

std::vector<protocol::Input> inputs_of(const Problem& problem, Range range) {
  std::vector<protocol::Input> all;
  for (const auto* inputs : {&problem.row.inputs, &problem.stage_row.inputs}) {
    if (inputs == &problem.row.inputs && problem.manifest.keeps_inputs) continue;
    for (const auto& input : *inputs)
      if (!input.range || input.range->overlaps(range)) all.push_back(input);
  }
  return all;
}

protocol::Grant make_grant(const Transaction& tx, const Problem& problem, const policy::Unit& unit) {
  protocol::Grant grant;
  grant.unit = unit.id;
  grant.host = unit.host;
  grant.problem = problem.row.id;
  grant.problem_name = problem.row.name;
  grant.stage = problem.row.stage;
  grant.range = unit.range;
  grant.inputs = inputs_of(problem, unit.range);
  if (const Bytes* saved = problem.saved.find(unit.range.begin); saved != nullptr && unit.begun_share > 0)
    grant.begun = protocol::BegunItem{unit.begun_share, *saved};
  grant.cost = problem.stage->view().ledger().costs().of(unit.range);
  grant.commit_seconds = static_cast<std::int64_t>(policy::commit_seconds(
      problem.stage->view().heartbeat_seconds(tx.now), static_cast<double>(problem.row.commit_seconds)));
  grant.issued_at = tx.now;
  grant.deadline =
      std::min(unit.deadline, certified_until(tx, tx.model.applications.at(problem.row.application)));
  if (!tx.settings.configuration.blobs_public_url.empty()) grant.direct = true;
  // Who knew that it is asked for an opinion could be honest just then.
  grant.reason = unit.kind == policy::UnitKind::check ? "items are free" : unit.reason;
  return grant;
}

bool some_idle_got_nothing(const protocol::WorkRequest& request, const policy::Served& served) {
  return std::any_of(request.slots.begin(), request.slots.end(), [&](const protocol::SlotRequest& slot) {
    return slot.urgent && std::none_of(served.grants.begin(), served.grants.end(),
                                       [&](const auto& grant) { return grant.slot == slot.slot; });
  });
}

void start_plans(Transaction& tx) {
  for (policy::PlanJob& job : tx.model.project->dispatch().take_jobs())
    tx.effects.add(effect::Map{std::move(job)});
}

}  // namespace

bool is_grant_of(const Model& model, Problem& problem, const protocol::Grant& grant) {
  if (grant.problem != problem.row.id || grant.stage != problem.row.stage) return false;
  if (grant.range.begin < 0 || grant.range.end > problem.stage_row.items) return false;
  if (grant.inputs != inputs_of(problem, grant.range)) return false;
  if (grant.context) return *grant.context == context_of(model, problem)->digest;
  return grant.application.payload == model.applications.at(problem.row.application).row.statement.payload &&
         grant.parameters == problem.row.parameters;
}

Status grant_unit(Transaction& tx, const protocol::WorkRequest& request, const policy::SlotGrant& granted,
                  WorkOutcome& outcome) {
  Problem& problem = tx.model.problems.at(granted.problem);
  outcome.grants.push_back(make_grant(tx, problem, *problem.stage->view().unit(granted.unit)));
  say_context(tx, problem, request, outcome);
  outcome.reply.grant_slots.push_back(granted.slot);
  if (problem.row.started_at != Timestamp{}) return {};
  problem.row.started_at = tx.now;
  return tx.store.update_problem(problem.row);
}

Status hand_out(Transaction& tx, Host& host, const protocol::WorkRequest& request, WorkOutcome& outcome) {
  if (request.slots.empty()) return {};
  if (const Status good = check_work_certificate(tx.settings, tx.now); !good.ok()) {
    outcome.reply.retry_after_seconds = uncertified_pause_seconds;
    outcome.reply.reason = good.error().message;
    return {};
  }
  tell_dispatch(tx, host);
  auto& spare = tx.model.spare_units;
  while (spare.size() < request.slots.size()) {
    TRY_ASSIGN(const UnitId next, tx.store.next_unit());
    spare.push_back(next);
  }
  policy::WorkDemand demand = demand_of(host, request);
  demand.units = spare;
  demand.awaited = tx.model.origin->awaited();
  const policy::Served served = tx.model.project->dispatch().apply(demand, tx.now);
  spare.erase(spare.begin(), spare.begin() + static_cast<std::ptrdiff_t>(served.grants.size()));
  start_plans(tx);
  for (const auto& [problem, changes] : served.changes)
    TRY(store_stage(tx, tx.model.problems.at(problem), changes));
  for (const auto& granted : served.grants) TRY(tx.model.origin->grant(tx, request, granted, outcome));
  if (some_idle_got_nothing(request, served)) tx.model.origin->note_missed();
  outcome.reply.retry_after_seconds = served.retry_after;
  outcome.reply.reason = served.reason;
  if (served.grants.empty()) {
    if (std::string why = tx.model.origin->why_nothing(); !why.empty()) outcome.reply.reason = std::move(why);
    if (std::string held = held_back(tx.model, host, tx.now); !held.empty())
      outcome.reply.reason = std::move(held);
  }
  return {};
}

void tick_dispatch(Transaction& tx) {
  tx.model.project->dispatch().apply(policy::PulseEvent{}, tx.now);
  start_plans(tx);
  if (tx.model.log) tx.model.log->want_written();
}

void take_mapping(Transaction& tx, const policy::PlanJob& job, const policy::TaskPlan& plan, double seconds) {
  tx.model.project->dispatch().apply(policy::PlannedEvent{job, plan, seconds}, tx.now);
  tx.effects.add(
      effect::LogLine{effect::LogLine::Level::debug,
                      fmt::format("plan {} of {} ({}): {}{}", job.input.seed, job.strategy, job.why,
                                  plan.reason, plan.taken ? "" : "; no better than the queues as they are")});
}

}  // namespace gleaner::service
