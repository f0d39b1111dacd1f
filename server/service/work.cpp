// A host asks for work: one round trip takes in its last small results, hears how its units stand, and hands
// out a unit for each slot that can get one.
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>

#include "server/policy/sharing.h"
#include "server/service/service.h"
#include "shared/base/limits.h"
#include "shared/crypto/statements.h"
#include "shared/protocol/codec.h"

namespace gleaner::service {
namespace {
constexpr double commits_per_heartbeat = 4;  // a commit is dearer than a heartbeat
// Clients that find nothing wait longer each time (client/engine/talk.cpp): so much, and so many seconds at
// most.
constexpr double rest_growth = 1.15, rest_max = 60;
}  // namespace

void Service::work(HostId host, protocol::WorkRequest request, Done<protocol::WorkReply> done) {
  std::vector<protocol::CommitRequest> commits = request.commits;
  prepare_commits(
      host, std::move(commits),
      [this, host, request = std::move(request), done](Result<std::vector<PreparedCommit>> prepared) mutable {
        if (!prepared.ok()) return done(prepared.error());
        decide<WorkOutcome>(
            [this, host, request = std::move(request), commits = std::move(*prepared)](
                Result<WorkOutcome>& outcome) { return decide_work(host, request, commits, outcome); },
            [this, done](Result<WorkOutcome> outcome) {
              if (!outcome.ok()) return done(outcome.error());
              for (const auto& acknowledgement : outcome->acknowledgements)
                outcome->reply.acknowledgements.push_back(sign(acknowledgement));
              for (const auto& grant : outcome->grants)
                outcome->reply.grants.push_back(crypto::sign_statement(
                    protocol::StatementType::grant, protocol::encode(grant), secrets_.work_key));
              done(std::move(outcome->reply));
            });
      });
}

Status Service::decide_work(HostId host_id, const protocol::WorkRequest& request,
                            const std::vector<PreparedCommit>& commits, Result<WorkOutcome>& result) {
  const auto found = model_.hosts.find(host_id);
  if (found == model_.hosts.end() || found->second.row.state != protocol::HostState::active) {
    result = Error{ErrorKind::unauthorized, "this host was revoked: join again"};
    return {};
  }
  Host& host = found->second;
  WorkOutcome outcome;
  for (const auto& commit : commits) {
    protocol::Acknowledgement acknowledgement;
    TRY(apply_commit(host_id, commit, acknowledgement));
    outcome.acknowledgements.push_back(std::move(acknowledgement));
  }
  TRY(touch_host(host));
  const bool measured = request.benchmark && request.benchmark->mflops > 0 &&
                        std::isfinite(request.benchmark->mflops) &&
                        request.benchmark->measured_at != host.row.benchmark_at;
  if (measured) {
    host.row.mflops = request.benchmark->mflops;
    host.row.benchmark_at = request.benchmark->measured_at;
    update_slowest(model_);
  }
  const bool told = request.speeds && *request.speeds != host.row.speeds;
  if (told) host.row.speeds = *request.speeds;
  if (measured || told) TRY(store_->update_host(host.row));
  TRY(give_back_unknown(host, request));
  TRY(take_reports(host_id, request.units, outcome.reply.units));
  TRY(hand_out(host, request, outcome));
  outcome.reply.interval_seconds = heartbeat_interval(host);
  outcome.reply.slowest_performance = model_.slowest_mflops;
  if (auto progress = progress_for(host); !progress.empty()) outcome.reply.progress = std::move(progress);
  result = std::move(outcome);
  return {};
}

Status Service::touch_host(Host& host) {
  host.row.last_contact = now();
  // Memory is enough between the minutes: after a crash all hosts count as heard of anyway.
  if (host.row.last_contact - host.stored_contact < std::chrono::minutes{1} &&
      host.row.last_contact >= host.stored_contact)
    return {};
  host.stored_contact = host.row.last_contact;
  return store_->update_host(host.row);
}

// A client lists all it holds. What it does not list it does not have: the reply with the grant was lost, or
// its disk.
Status Service::give_back_unknown(Host& host, const protocol::WorkRequest& request) {
  std::set<UnitId> held;
  for (const auto& report : request.units) held.insert(report.unit);
  for (const auto& commit : request.commits) held.insert(commit.unit);
  const std::set<UnitId> open = host.units;
  for (const UnitId unit : open) {
    if (held.contains(unit)) continue;
    const auto place = model_.open_units.find(unit);
    if (place == model_.open_units.end()) continue;
    Problem& problem = model_.problems[place->second];
    if (!problem.stage) continue;
    policy::Changes changes;
    problem.stage->give_back(host.row.id, unit, policy::Stage::GiveBack::returned, 0,
                             "the host does not hold it (a reply or its state was lost)", now(), changes);
    TRY(store_stage(problem, changes));
  }
  return {};
}

std::vector<protocol::ProblemProgress> Service::progress_for(const Host& host) const {
  std::set<ProblemId> problems;
  for (const UnitId unit : host.units)
    if (const auto place = model_.open_units.find(unit); place != model_.open_units.end())
      problems.insert(place->second);
  std::vector<protocol::ProblemProgress> progress;
  for (const ProblemId id : problems) {
    const auto found = model_.problems.find(id);
    if (found == model_.problems.end() || !found->second.stage) continue;
    if (progress.size() == static_cast<std::size_t>(limits::progress_per_reply_max)) break;
    const auto counts = found->second.stage->view().counts(now());
    progress.push_back({id, counts.items, counts.accepted, counts.givers});
  }
  return progress;
}

bool Service::can_compute(const Problem& problem, const protocol::WorkRequest& request) const {
  if (problem.manifest.kernel_for(request.platforms).empty()) return false;
  const std::string& name = problem.manifest.name;
  if (request.applications && std::find(request.applications->begin(), request.applications->end(), name) ==
                                  request.applications->end())
    return false;
  if (request.memory_bytes > 0 && problem.manifest.memory_bytes > request.memory_bytes) return false;
  return problem.manifest.threads <= request.cores;
}

std::vector<ProblemId> Service::problems_for(const Host& host, const protocol::WorkRequest& request) const {
  std::vector<policy::ShareView> candidates;
  for (const auto& [id, problem] : model_.problems) {
    if (problem.row.state != protocol::ProblemState::running || !problem.stage) continue;
    if (!can_compute(problem, request)) continue;
    if (!problem.stage->view().has_work_for(host.row.id, now())) continue;
    candidates.push_back({id, problem.row.weight, problem.row.priority, problem.row.service});
  }
  return policy::order_by_share(candidates);
}

Status Service::hand_out(Host& host, const protocol::WorkRequest& request, WorkOutcome& outcome) {
  if (request.slots.empty()) return {};
  host.proposal = request.proposal;
  const double waited = host.waiting_slots > 0 ? to_seconds(now() - host.asked_at) : 0;
  host.asked_at = now();
  host.waiting_slots = 0;
  auto& reply = outcome.reply;
  if (const auto blocked = policy::blocked_for(host.row.health, now())) {
    reply.retry_after_seconds = *blocked;
    reply.reason = "held back for " + std::to_string(static_cast<int>(*blocked) + 1) +
                   " s after failures: " + host.row.health.reason;
    return {};
  }
  const auto order = problems_for(host, request);
  if (order.empty()) {
    reply.retry_after_seconds = 5;
    reply.reason = "none of its problems has any for this host";
    for (const auto& [id, problem] : model_.problems) {
      if (problem.row.state != protocol::ProblemState::running || !problem.stage) continue;
      // Work may come back at any moment (a stalled holder): ask as often as the stage finds useful.
      reply.retry_after_seconds =
          std::min(reply.retry_after_seconds, std::max(0.25, problem.stage->view().heartbeat_seconds(now())));
    }
    note_waiting(host, request, outcome, waited);
    return {};
  }
  for (const auto& slot : request.slots) TRY(hand_out_slot(host, request, slot, order, outcome));
  note_waiting(host, request, outcome, waited);
  return {};
}

void Service::note_waiting(Host& host, const protocol::WorkRequest& request, const WorkOutcome& outcome,
                           double waited) {
  const auto& served = outcome.reply.grant_slots;
  for (const auto& slot : request.slots) {
    if (slot.urgent && std::find(served.begin(), served.end(), slot.slot) == served.end())
      ++host.waiting_slots;
  }
  const double wait = std::max(outcome.reply.retry_after_seconds, std::min(rest_growth * waited, rest_max));
  host.asks_at = host.asked_at + from_seconds(policy::latest_return(wait));
}

std::vector<policy::IdleHost> Service::waiting_hosts() const {
  std::vector<policy::IdleHost> waiting;
  for (const auto& [id, host] : model_.hosts) {
    if (host.waiting_slots == 0 || host.asks_at < now()) continue;
    const double performance = host.proposal.performance > 0 ? host.proposal.performance : host.row.mflops;
    if (host.proposal.watts > 0 && performance > 0)
      waiting.push_back({id, host.waiting_slots, performance, host.proposal.watts, host.asks_at});
  }
  return waiting;
}

Status Service::hand_out_slot(Host& host, const protocol::WorkRequest& request,
                              const protocol::SlotRequest& slot, const std::vector<ProblemId>& order,
                              WorkOutcome& outcome) {
  std::set<std::string> asked;  // mapping strategies, each once
  const auto nothing = [&](double retry_after, const std::string& reason) {
    if (outcome.reply.retry_after_seconds > 0 && retry_after >= outcome.reply.retry_after_seconds) return;
    outcome.reply.retry_after_seconds = retry_after;
    outcome.reply.reason = reason;
  };
  for (const ProblemId next : order) {
    std::optional<Planned> planned;
    if (const Problem& problem = model_.problems[next]; is_mapped(problem)) {
      if (asked.insert(problem.row.strategy).second)
        planned = next_planned(host, slot, request, problem.row.strategy);
      else if (!problem.stage->view().free().empty())
        continue;
      if (planned && planned->range.empty() && planned->wait > 0) {
        nothing(planned->wait, "the plan has nothing for this slot now");
        continue;
      }
    }
    const ProblemId id = planned && !planned->range.empty() ? planned->problem : next;
    Problem& problem = model_.problems[id];
    if (!model_.spare_unit) {
      TRY_ASSIGN(model_.spare_unit, store_->next_unit());
    }
    policy::Requester requester;
    requester.host = host.row.id;
    requester.slot = slot.slot;
    requester.urgent = slot.urgent;
    requester.slots = std::max(1, request.cores);
    requester.performance = request.proposal.performance > 0 ? request.proposal.performance : host.row.mflops;
    requester.queue_unloaded = request.proposal.queue_unloaded;
    requester.queue_current = request.proposal.queue_current;
    requester.proposed_items = request.proposal.items;
    requester.watts = request.proposal.watts;
    requester.unit = *model_.spare_unit;
    if (planned) {
      requester.planned = planned->range;
      requester.planned_reason = planned->reason;
    }
    policy::Changes changes;
    const policy::Grant grant = problem.stage->request(requester, now(), changes);
    if (grant.unit) model_.spare_unit.reset();
    TRY(store_stage(problem, changes));
    if (!grant.unit) {
      nothing(grant.retry_after, grant.reason);
      continue;
    }
    const policy::Unit& unit = *problem.stage->view().unit(*grant.unit);
    if (is_mapped(problem) && unit.kind == policy::UnitKind::fresh) note_begun(problem, unit, host);
    outcome.grants.push_back(make_grant(problem, unit));
    outcome.reply.grant_slots.push_back(slot.slot);
    const policy::HostRecord* record = problem.stage->view().host(host.row.id);
    // Before the host's rate is known its units are small: a second stands for them.
    const double seconds =
        record != nullptr && record->rate > 0 ? problem.stage->view().cost(unit.range) / record->rate : 1;
    problem.row.service =
        policy::charge({id, problem.row.weight, problem.row.priority, problem.row.service}, seconds);
    if (problem.row.started_at == Timestamp{}) {
      problem.row.started_at = now();
      TRY(store_->update_problem(problem.row));
    }
    return {};
  }
  return {};
}

protocol::Grant Service::make_grant(const Problem& problem, const policy::Unit& unit) const {
  protocol::Grant grant;
  grant.unit = unit.id;
  grant.host = unit.host;
  grant.problem = problem.row.id;
  grant.problem_name = problem.row.name;
  grant.stage = problem.row.stage;
  grant.range = unit.range;
  const Application& application = model_.applications.at(problem.row.application);
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
      static_cast<std::int64_t>(commits_per_heartbeat * problem.stage->view().heartbeat_seconds(now()));
  grant.commit_seconds = std::clamp<std::int64_t>(paced, 1, problem.row.commit_seconds);
  grant.issued_at = now();
  grant.deadline = unit.deadline;
  grant.reason = unit.reason;
  return grant;
}

// The transaction's rows for what a stage changed, and what follows: set-aside ranges, the end of the stage.
Status Service::store_stage(Problem& problem, const policy::Changes& changes) {
  TRY(store_changes(*store_, model_, problem, changes));
  if (is_mapped(problem)) {
    for (const UnitId id : changes.units)
      if (const policy::Unit* unit = problem.stage->view().unit(id); unit != nullptr) note_ended(*unit);
  }
  const bool set_aside = std::any_of(changes.decisions.begin(), changes.decisions.end(),
                                     [](const auto& decision) { return decision.kind == "set-aside"; });
  if (set_aside) {
    problem.stage_row.set_aside = problem.stage->view().set_aside().ranges();
    problem.row.message =
        std::to_string(problem.stage->view().set_aside().total()) +
        " items are set aside: they failed on several hosts (see `gleaner-admin problem show`)";
    spdlog::warn("problem {}: {}", problem.row.id.value, problem.row.message);
    TRY(store_->put_stage(problem.stage_row));
    TRY(store_->update_problem(problem.row));
  }
  for (const auto& decision : changes.decisions)
    spdlog::debug("problem {} unit {} host {} {} [{}, {}): {}", problem.row.id.value, decision.unit.value,
                  decision.host.value, decision.kind, decision.range.begin, decision.range.end,
                  decision.reason);
  if (problem.stage->view().complete()) return advance(problem.row.id);
  return {};
}

}  // namespace gleaner::service
