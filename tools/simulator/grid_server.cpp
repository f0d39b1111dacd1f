#include <algorithm>

#include "server/policy/project/life_cycle.h"
#include "tools/simulator/grid_loop.h"

namespace gleaner::simulator {
namespace {

constexpr double tail_share = 0.95;
constexpr int planning_looks_max = 1000;

}  // namespace

double performance_of(const GridHost& host) {
  return host.performance > 0 ? host.performance : host.speed;
}

// What the live server does with a message of each kind, in its order (server/service/work/work.cpp).
void GridLoop::at_server(const Message& message) {
  const HostId host = host_id(message.host);
  const bool asks = !message.slots.empty();
  project_.heard(host, stamp());
  auto letter = mail_.reply();
  Reply& reply = *letter;
  reply.host = message.host;
  reply.exchange = message.exchange;
  for (const Commit& part : message.commits)
    if (!commit(host, part)) reply.refused.push_back(part.unit);
  if (asks) give_back_unknown(message);
  for (const auto& [problem, report] : message.reports) {
    reply.orders.push_back(
        problems_[problem].recorded->apply(policy::ReportEvent{host, report}, stamp(), scratch_.changes));
    note_changes();
  }
  for (const auto& [problem, unit, item, share] : message.saved)
    problems_[problem].recorded->apply(policy::SaveEvent{host, unit, item, share}, stamp());
  if (message.failure) take_failure(host, *message.failure);
  tick();
  if (asks) request(message, reply);
  if (asks || message.kind == client_policy::Exchange::heartbeat) reply.interval = heartbeat_of(message.host);
  reply.slowest_performance = server_.slowest_performance;
  check();
  run_.decided +=
      static_cast<std::int64_t>(message.commits.size() + message.reports.size() + message.slots.size()) +
      (message.failure ? 1 : 0);
  look_whether_over();
  if (!message.answered) return mail_.keep(std::move(letter));
  const double arrives = now_ + instance_.request_delay / 2 + instance_.hosts[message.host].latency;
  mail_.send({arrives, {}, std::move(letter)});
}

// After each event of a stage.
void GridLoop::note_changes() {
  if (instance_.check_every > 0) {
    scratch_.changed.units.insert(scratch_.changed.units.end(), scratch_.changes.units.begin(),
                                  scratch_.changes.units.end());
    scratch_.changed.hosts.insert(scratch_.changed.hosts.end(), scratch_.changes.hosts.begin(),
                                  scratch_.changes.hosts.end());
  }
  if (instance_.keep_decisions)
    run_.decisions.insert(run_.decisions.end(), std::make_move_iterator(scratch_.changes.decisions.begin()),
                          std::make_move_iterator(scratch_.changes.decisions.end()));
  scratch_.changes.units.clear();
  scratch_.changes.hosts.clear();
  scratch_.changes.decisions.clear();
}

void GridLoop::check() {
  if (instance_.check_every == 0) return;
  const bool all = ++server_.received % instance_.check_every == 0;
  for (const SimulatedProblem& problem : problems_) {
    if (problem.recorded == nullptr) continue;
    if (all) {
      problem.stage().check_invariants();
    } else {
      problem.stage().check_changed(scratch_.changed);
    }
  }
  scratch_.changed = {};
}

// Grants that did not arrive, or were lost with a client's state.
void GridLoop::give_back_unknown(const Message& message) {
  std::erase_if(server_.held[message.host], [&](const Held& held) {
    policy::RecordedStage& stage = *problems_[held.problem].recorded;
    const policy::Unit* unit = stage.view().unit(held.unit);
    if (unit == nullptr || unit->state != policy::UnitState::open) return true;
    const bool told = std::any_of(message.reports.begin(), message.reports.end(),
                                  [&](const Report& one) { return one.report.unit == held.unit; }) ||
                      std::any_of(message.commits.begin(), message.commits.end(),
                                  [&](const Commit& one) { return one.unit == held.unit; });
    if (told) return false;
    stage.apply(policy::GiveBackEvent{host_id(message.host), held.unit, policy::GiveBack::returned, 0,
                                      "the host does not hold it (a reply or its state was lost)"},
                stamp(), scratch_.changes);
    note_changes();
    return true;
  });
}

// Every problem is an application of its own.
void GridLoop::take_failure(HostId host, const Failure& failure) {
  using policy::Ruling;
  const std::size_t problem = failure.problem;
  const policy::Unit* unit = problems_[problem].stage().unit(failure.unit);
  if (problems_[problem].over || unit == nullptr || unit->state != policy::UnitState::open ||
      unit->host != host)
    return;  // over already
  Known& known = trust_.known[index_of(host)];
  policy::FailedEvent event{problem_id(problem), host, failure.unit, host};
  event.kind = protocol::FailureKind::kernel_crashed;
  event.item = failure.item;
  event.message = "signal 11";
  event.items_accepted = known.accepted;
  event.failures = known.failures;
  policy::ProjectChanges changes = project_.apply(event, stamp());
  known.failures += changes.counted ? 1 : 0;
  server_.blocked_until.resize(instance_.hosts.size());
  for (const ProblemId paused : changes.paused)
    problems_[static_cast<std::size_t>(paused.value - 1)].stopped = true;
  const std::vector<Ruling> rulings = std::move(changes.rulings);
  perform(std::move(changes));
  for (const Ruling& ruling : rulings) {
    if (ruling.kind == Ruling::Kind::hold_host)
      server_.blocked_until[index_of(host)] = stamp() + from_seconds(ruling.seconds);
    if (ruling.kind == Ruling::Kind::give_back) {
      policy::RestoreEvent stored = stored_of(problem);
      RangeSet still;
      for (const Range range : stored.set_aside) still.add(range);
      still.remove({ruling.item, ruling.item + 1});
      stored.set_aside = still.ranges();
      restore_stage(problem, stored);
    }
  }
}

void GridLoop::look_whether_over() {
  over_ = true;
  for (SimulatedProblem& problem : problems_) {
    if (problem.over) continue;
    if (problem.recorded == nullptr) {
      over_ = false;
      continue;
    }
    const policy::Stage& stage = problem.stage();
    const auto index = static_cast<std::size_t>(&problem - problems_.data());
    const bool combined =
        stage.complete() &&
        (!trust_.validates || results_.may_combine(problem_id(index), instance_.seed + index, stamp()));
    problem.over = problem.stopped || combined || policy::only_failed_items_left(stage);
    if (problem.over) {
      problem.ended_at = now_;
      project_.dispatch().apply(policy::ProblemEvent{problem_id(index), terms_of(index)}, stamp());
      project_.drop_problem(problem_id(index));
    }
    over_ = over_ && problem.over;
  }
}

policy::ProblemTerms GridLoop::terms_of(std::size_t problem) const {
  const GridProblem& given = jobs_[problem].problem;
  policy::ProblemTerms terms;
  terms.strategy = instance_.sizing;
  terms.share = {given.weight, given.priority};
  terms.running = !problems_[problem].over;
  terms.needs.platforms = {"any"};
  return terms;
}

void GridLoop::put_hosts() {
  server_.slowest_performance = 0;
  for (std::size_t id = 0; id < instance_.hosts.size(); ++id) {
    put_host(id);
    const double performance = performance_of(instance_.hosts[id]);
    if (server_.slowest_performance == 0 || performance < server_.slowest_performance)
      server_.slowest_performance = performance;
  }
}

void GridLoop::put_host(std::size_t id) {
  const GridHost& host = instance_.hosts[id];
  policy::HostTerms terms{performance_of(host), {}, {}, {}};
  terms.own = project_.reputation().is_own(host_id(id));
  terms.cores = host.cores > 0 ? host.cores : host.slots;
  if (!server_.blocked_until.empty()) terms.held_until = server_.blocked_until[id];
  for (std::size_t i = 0; may_hold() && i < problems_.size(); ++i)
    if (project_.is_held(host_id(id), application_id(i), stamp())) terms.barred.push_back(problem_id(i));
  project_.dispatch().apply(policy::HostEvent{host_id(id), terms}, stamp());
}

void GridLoop::add_problem(std::size_t problem) {
  const ProblemId id = problem_id(problem);
  project_.dispatch().apply(policy::ProblemEvent{id, terms_of(problem)}, stamp());
  tell_project(problem);
  project_.begin_stage(id);
  problems_[problem].recorded =
      &project_.dispatch().apply(policy::BeginStageEvent{id, setup_of(problem)}, stamp());
}

// False: it is not taken.
bool GridLoop::commit(HostId host, const Commit& commit) {
  SimulatedProblem& problem = problems_[commit.problem];
  const auto outcome = problem.recorded->apply(
      policy::CommitEvent{host, commit.unit, commit.range, commit.last}, stamp(), scratch_.changes);
  note_changes();
  for (const Range range : outcome.accepted) {
    accepted_work_ += jobs_[commit.problem].costs.of(range);
    trust_.known[index_of(host)].accepted += range.size();
    if (instance_.check_every == 0) continue;
    CHECK_TRUE(!problem.accepted.overlaps(range));  // nothing is accepted twice
    problem.accepted.add(range);
  }
  if (may_hold() && outcome.refusal.empty() && !problem.over) delivered(commit, host, outcome);
  if (run_.t95 == 0 && accepted_work_ >= tail_share * total_work_) run_.t95 = now_;
  return outcome.refusal.empty();
}

void GridLoop::request(const Message& message, Reply& reply) {
  reply.slots = message.slots.size();
  reply.urgent = std::any_of(message.slots.begin(), message.slots.end(),
                             [](const protocol::SlotRequest& slot) { return slot.urgent; });
  if (may_hold()) put_host(message.host);
  scratch_.demand.host = host_id(message.host);
  scratch_.demand.slots = message.slots;
  scratch_.demand.offer.cores = instance_.hosts[message.host].slots;
  scratch_.demand.proposal = message.proposal;
  scratch_.demand.units.clear();
  for (std::size_t i = 0; i < message.slots.size(); ++i)
    scratch_.demand.units.push_back(UnitId{server_.next_unit + static_cast<std::int64_t>(i)});
  make_plans();
  policy::Served served = project_.dispatch().apply(scratch_.demand, stamp());
  for (auto& [problem, changes] : served.changes) {
    scratch_.changes = std::move(changes);
    note_changes();
  }
  reply.retry_after = served.retry_after;
  for (const policy::SlotGrant& granted : served.grants) grant(granted, reply);
}

void GridLoop::grant(const policy::SlotGrant& granted, Reply& reply) {
  ++server_.next_unit;
  ++run_.grants;
  const auto problem = static_cast<std::size_t>(granted.problem.value - 1);
  const policy::Stage& stage = problems_[problem].stage();
  const policy::Unit& unit = *stage.unit(granted.unit);
  const double commit_seconds =
      policy::commit_seconds(stage.heartbeat_seconds(stamp()), instance_.commit_seconds);
  reply.grants.push_back(
      {granted.slot, unit.id, problem, unit.range, unit.kind, unit.begun_share, commit_seconds});
  server_.held[reply.host].push_back({unit.id, problem});
  if (instance_.sample_seconds > 0)
    run_.grants_made.push_back({now_, static_cast<std::uint32_t>(reply.host), unit.range.size(), unit.kind});
}

double GridLoop::heartbeat_of(std::size_t host) {
  scratch_.heartbeat_problems.clear();
  for (const Held& held : server_.held[host]) {
    const ProblemId problem = problem_id(held.problem);
    if (std::find(scratch_.heartbeat_problems.begin(), scratch_.heartbeat_problems.end(), problem) ==
        scratch_.heartbeat_problems.end())
      scratch_.heartbeat_problems.push_back(problem);
  }
  return project_.dispatch().heartbeat_seconds(scratch_.heartbeat_problems, stamp());
}

// As a server does once a second. A plan is there at once; a search ends after so many looks at the time.
void GridLoop::tick() {
  if (now_ < server_.ticks_at) return;
  server_.ticks_at = now_ + 1;
  for (SimulatedProblem& problem : problems_)
    if (problem.recorded != nullptr && !problem.over)
      problem.recorded->apply(policy::TickEvent{}, stamp(), scratch_.changes);
  note_changes();
  project_.dispatch().apply(policy::PulseEvent{}, stamp());
}

void GridLoop::make_plans() {
  for (policy::PlanJob& job : project_.dispatch().take_jobs()) {
    int looks = 0;
    policy::TaskPlan plan = policy::make_plan(job, [&] { return ++looks > planning_looks_max; });
    project_.dispatch().apply(policy::PlannedEvent{std::move(job), std::move(plan)}, stamp());
  }
}

policy::RestoreEvent GridLoop::stored_of(std::size_t problem) const {
  const policy::Stage& stage = problems_[problem].stage();
  policy::RestoreEvent stored;
  for (const policy::Unit* unit : stage.open_units()) stored.units.push_back(*unit);
  for (const policy::HostRecord* record : stage.hosts()) stored.hosts.push_back(*record);
  stored.accepted = stage.ledger().accepted().ranges();
  stored.set_aside = stage.ledger().set_aside().ranges();
  stored.undecided = stage.ledger().undecided().ranges();
  return stored;
}

void GridLoop::restore_stage(std::size_t index, const policy::RestoreEvent& stored) {
  SimulatedProblem& problem = problems_[index];
  problem.recorded = &project_.dispatch().apply(
      policy::BeginStageEvent{problem_id(index), setup_of(index), stored}, stamp());
  if (instance_.check_every > 0) problem.stage().check_invariants();
}

// What was stored is all that is left.
void GridLoop::restart() {
  std::vector<policy::RestoreEvent> stored(problems_.size());
  std::vector<double> service;
  for (std::size_t i = 0; i < problems_.size(); ++i) {
    service.push_back(project_.dispatch().shares().service(problem_id(i), stamp()));
    if (problems_[i].recorded != nullptr) stored[i] = stored_of(i);
  }
  project_.restart(plan_rules(instance_), instance_.log);
  put_hosts();
  for (std::size_t i = 0; i < problems_.size(); ++i) {
    if (problems_[i].recorded == nullptr) continue;
    project_.dispatch().apply(policy::ProblemEvent{problem_id(i), terms_of(i), service[i]}, stamp());
    restore_stage(i, stored[i]);
  }
}

}  // namespace gleaner::simulator
