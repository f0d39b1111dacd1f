#include "server/service/dispatch.h"

#include <algorithm>
#include <utility>

#include "server/policy/sharing.h"
#include "server/service/life_cycle.h"

namespace gleaner::service {
namespace {

constexpr double commits_per_heartbeat = 4;  // a commit is dearer than a heartbeat
constexpr double idle_wait_seconds = 5, idle_wait_seconds_min = 0.25;
// Clients that find nothing wait longer each time (client/engine/talk.cpp): so much, and so many seconds at
// most.
constexpr double rest_growth = 1.15, rest_max = 60;

policy::ShareView share_view(const Problem& problem) {
  const auto& row = problem.row;
  return {row.id, row.weight, row.priority, row.service};
}

}  // namespace

bool can_compute(const Problem& problem, const protocol::WorkRequest& request) {
  if (problem.manifest.kernel_for(request.platforms).empty()) return false;
  const std::string& name = problem.manifest.name;
  if (request.applications && std::find(request.applications->begin(), request.applications->end(), name) ==
                                  request.applications->end())
    return false;
  if (request.memory_bytes > 0 && problem.manifest.memory_bytes > request.memory_bytes) return false;
  return problem.manifest.threads <= request.cores;
}

protocol::Grant make_grant(const Transaction& tx, const Problem& problem, const policy::Unit& unit) {
  protocol::Grant grant;
  grant.unit = unit.id;
  grant.host = unit.host;
  grant.problem = problem.row.id;
  grant.problem_name = problem.row.name;
  grant.stage = problem.row.stage;
  grant.range = unit.range;
  const Application& application = tx.model.applications.at(problem.row.application);
  grant.application = application.row.statement;
  grant.signer = application.row.signer;
  grant.parameters = problem.row.parameters;
  grant.parameters_digest = problem.parameters_digest;
  for (const auto* inputs : {&problem.row.inputs, &problem.stage_row.inputs}) {
    if (inputs == &problem.row.inputs && problem.manifest.keeps_inputs) continue;
    for (const auto& input : *inputs)
      if (!input.range || input.range->overlaps(unit.range)) grant.inputs.push_back(input);
  }
  if (const Bytes* saved = problem.saved.find(unit.range.begin); saved != nullptr && unit.begun_share > 0)
    grant.begun = protocol::BegunItem{unit.begun_share, *saved};
  grant.cost = problem.stage->view().cost(unit.range);
  // A problem that is over in a minute cannot wait a minute for its first results.
  const auto paced =
      static_cast<std::int64_t>(commits_per_heartbeat * problem.stage->view().heartbeat_seconds(tx.now));
  grant.commit_seconds = std::clamp<std::int64_t>(paced, 1, problem.row.commit_seconds);
  grant.issued_at = tx.now;
  grant.deadline = unit.deadline;
  grant.reason = unit.reason;
  return grant;
}

std::vector<policy::IdleHost> waiting_hosts(const Model& model, Timestamp now) {
  std::vector<policy::IdleHost> waiting;
  for (const auto& [id, host] : model.hosts) {
    if (host.waiting_slots == 0 || host.asks_at < now) continue;
    const double performance = host.proposal.performance > 0 ? host.proposal.performance : host.row.mflops;
    if (host.proposal.watts > 0 && performance > 0)
      waiting.push_back({id, host.waiting_slots, performance, host.proposal.watts, host.asks_at});
  }
  return waiting;
}

Status Dispatch::hand_out() {
  if (request_.slots.empty()) return {};
  host_.proposal = request_.proposal;
  const double waited = host_.waiting_slots > 0 ? to_seconds(tx_.now - host_.asked_at) : 0;
  host_.asked_at = tx_.now;
  host_.waiting_slots = 0;
  if (const auto blocked = policy::blocked_for(host_.row.health, tx_.now)) {
    outcome_.reply.retry_after_seconds = *blocked;
    outcome_.reply.reason = "held back for " + std::to_string(static_cast<int>(*blocked) + 1) +
                            " s after failures: " + host_.row.health.reason;
    return {};
  }
  const auto order = problems_in_order();
  if (order.empty()) nothing_to_do();
  for (const auto& slot : request_.slots) TRY(serve(slot, order));
  note_waiting(waited);
  return {};
}

std::vector<ProblemId> Dispatch::problems_in_order() const {
  std::vector<policy::ShareView> candidates;
  for (const auto& [id, problem] : tx_.model.problems) {
    if (problem.row.state != protocol::ProblemState::running || !problem.stage) continue;
    if (!can_compute(problem, request_)) continue;
    if (!problem.stage->view().has_work_for(host_.row.id, tx_.now)) continue;
    candidates.push_back(share_view(problem));
  }
  return policy::order_by_share(candidates);
}

void Dispatch::nothing_to_do() {
  auto& reply = outcome_.reply;
  reply.retry_after_seconds = idle_wait_seconds;
  reply.reason = "none of its problems has any for this host";
  for (const auto& [id, problem] : tx_.model.problems) {
    if (problem.row.state != protocol::ProblemState::running || !problem.stage) continue;
    // Work may come back at any moment (a stalled holder): ask as often as the stage finds useful.
    reply.retry_after_seconds =
        std::min(reply.retry_after_seconds,
                 std::max(idle_wait_seconds_min, problem.stage->view().heartbeat_seconds(tx_.now)));
  }
}

Status Dispatch::serve(const protocol::SlotRequest& slot, const std::vector<ProblemId>& order) {
  std::set<std::string> asked;  // mapping strategies, each once
  for (const ProblemId next : order) {
    const auto choice = choose(next, slot, asked);
    if (!choice) continue;
    TRY_ASSIGN(const bool served, request_unit(*choice, slot));
    if (served) return {};
  }
  return {};
}

std::optional<Dispatch::Choice> Dispatch::choose(ProblemId next, const protocol::SlotRequest& slot,
                                                 std::set<std::string>& asked) {
  const Problem& problem = tx_.model.problems.at(next);
  if (!is_mapped(problem)) return Choice{next, {}};
  if (!asked.insert(problem.row.strategy).second) {
    if (!problem.stage->view().free().empty()) return std::nullopt;
    return Choice{next, {}};
  }
  auto planned = next_planned(tx_, host_, slot, request_, problem.row.strategy);
  if (planned.range.empty() && planned.wait > 0) {
    wait(planned.wait, "the plan has nothing for this slot now");
    return std::nullopt;
  }
  return Choice{planned.range.empty() ? next : planned.problem, std::move(planned)};
}

policy::Requester Dispatch::requester(const Choice& choice, const protocol::SlotRequest& slot) const {
  const auto& proposal = request_.proposal;
  policy::Requester requester;
  requester.host = host_.row.id;
  requester.slot = slot.slot;
  requester.urgent = slot.urgent;
  requester.slots = std::max(1, request_.cores);
  requester.performance = proposal.performance > 0 ? proposal.performance : host_.row.mflops;
  requester.queue_unloaded = proposal.queue_unloaded;
  requester.queue_current = proposal.queue_current;
  requester.proposed_items = proposal.items;
  requester.watts = proposal.watts;
  requester.unit = *tx_.model.spare_unit;
  if (choice.planned) {
    requester.planned = choice.planned->range;
    requester.planned_reason = choice.planned->reason;
  }
  return requester;
}

Result<bool> Dispatch::request_unit(const Choice& choice, const protocol::SlotRequest& slot) {
  Problem& problem = tx_.model.problems.at(choice.problem);
  if (!tx_.model.spare_unit) {
    TRY_ASSIGN(tx_.model.spare_unit, tx_.store.next_unit());
  }
  policy::Changes changes;
  const policy::Grant grant = problem.stage->request(requester(choice, slot), tx_.now, changes);
  if (grant.unit) tx_.model.spare_unit.reset();
  TRY(store_stage(tx_, problem, changes));
  if (!grant.unit) {
    wait(grant.retry_after, grant.reason);
    return false;
  }
  TRY(granted(problem, *problem.stage->view().unit(*grant.unit), slot));
  return true;
}

Status Dispatch::granted(Problem& problem, const policy::Unit& unit, const protocol::SlotRequest& slot) {
  if (is_mapped(problem) && unit.kind == policy::UnitKind::fresh) note_begun(tx_.model, problem, unit, host_);
  outcome_.grants.push_back(make_grant(tx_, problem, unit));
  outcome_.reply.grant_slots.push_back(slot.slot);
  const policy::HostRecord* record = problem.stage->view().host(host_.row.id);
  // Before the host's rate is known its units are small: a second stands for them.
  const double seconds =
      record != nullptr && record->rate > 0 ? problem.stage->view().cost(unit.range) / record->rate : 1;
  problem.row.service = policy::charge(share_view(problem), seconds);
  if (problem.row.started_at != Timestamp{}) return {};
  problem.row.started_at = tx_.now;
  return tx_.store.update_problem(problem.row);
}

void Dispatch::wait(double seconds, const std::string& reason) {
  auto& reply = outcome_.reply;
  if (reply.retry_after_seconds > 0 && seconds >= reply.retry_after_seconds) return;
  reply.retry_after_seconds = seconds;
  reply.reason = reason;
}

void Dispatch::note_waiting(double waited) {
  const auto& served = outcome_.reply.grant_slots;
  for (const auto& slot : request_.slots) {
    if (slot.urgent && std::find(served.begin(), served.end(), slot.slot) == served.end())
      ++host_.waiting_slots;
  }
  const double seconds =
      std::max(outcome_.reply.retry_after_seconds, std::min(rest_growth * waited, rest_max));
  host_.asks_at = host_.asked_at + from_seconds(policy::latest_return(seconds));
}

}  // namespace gleaner::service
