#include "tools/simulator/grid_loop.h"

namespace gleaner::simulator {
namespace {

constexpr double tail_share = 0.95;
constexpr int planning_looks_max = 1000;

double performance_of(const GridHost& host) {
  return host.performance > 0 ? host.performance : host.speed;
}

HostId host_id(std::size_t host) {
  return {static_cast<std::int64_t>(host) + 1};
}

ProblemId problem_id(std::size_t problem) {
  return {static_cast<std::int64_t>(problem) + 1};
}

}  // namespace

void GridLoop::at_server(const Message& message) {
  const HostId host = host_id(message.host);
  policy::Changes changes;
  Reply reply;
  reply.host = message.host;
  for (const Commit& part : message.commits) commit(host, part, changes);
  for (const auto& [problem, report] : message.reports) {
    reply.orders.push_back(problems_[problem].recorded->report(host, report, stamp(), changes));
  }
  for (const auto& [problem, unit, item, share] : message.saved)
    problems_[problem].recorded->save(host, unit, item, share, stamp());
  if (message.failure) {
    problems_[message.failure->problem].recorded->give_back(
        host, message.failure->unit, policy::Stage::GiveBack::failed, message.failure->range.begin,
        "the kernel crashed", stamp(), changes);
  }
  tick();
  if (message.slot) request(message, reply, changes);
  const bool check_all = instance_.check_every > 0 && ++received_ % instance_.check_every == 0;
  reply.interval = Agenda::never;
  for (SimulatedProblem& problem : problems_) {
    if (problem.recorded == nullptr) continue;
    if (!problem.over) {
      problem.recorded->tick(stamp(), changes);
      reply.interval = std::min(reply.interval, problem.stage().heartbeat_seconds(stamp()));
    }
    if (check_all) {
      problem.stage().check_invariants();
    } else if (instance_.check_every > 0) {
      problem.stage().check_changed(changes);
    }
  }
  if (reply.interval == Agenda::never) reply.interval = instance_.rules.heartbeat;
  if (instance_.keep_decisions) {
    run_.decisions.insert(run_.decisions.end(), changes.decisions.begin(), changes.decisions.end());
  }
  run_.decided += static_cast<std::int64_t>(message.commits.size() + message.reports.size()) +
                  (message.slot ? 1 : 0) + (message.failure ? 1 : 0);
  look_whether_over();
  push({now_ + instance_.request_delay / 2, ++order_, {}, std::make_unique<Reply>(std::move(reply))});
}

// A problem is over when everything is accepted, or the rest is set aside and no dispute over what was
// accepted goes on.
void GridLoop::look_whether_over() {
  over_ = true;
  for (SimulatedProblem& problem : problems_) {
    if (problem.over) continue;
    if (problem.recorded == nullptr) {
      over_ = false;
      continue;
    }
    const policy::Stage& stage = problem.stage();
    const std::int64_t items = jobs_[static_cast<std::size_t>(&problem - problems_.data())].problem.items;
    problem.over = stage.complete() || (stage.accepted().total() + stage.set_aside().total() >= items &&
                                        (!liars_ || stage.open_units().empty()));
    if (problem.over) {
      problem.ended_at = now_;
      const auto index = static_cast<std::size_t>(&problem - problems_.data());
      dispatch_->put_problem(problem_id(index), terms_of(index), stamp());
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
  policy::PlanRules rules;
  rules.heartbeat = instance_.rules.heartbeat;
  rules.unit_maximum = instance_.rules.unit_maximum;
  dispatch_ = std::make_unique<policy::Dispatch>(rules, instance_.server_log);
  for (std::size_t id = 0; id < instance_.hosts.size(); ++id)
    dispatch_->put_host(host_id(id), {performance_of(instance_.hosts[id]), {}, {}, {}}, stamp());
}

void GridLoop::add_problem(std::size_t problem) {
  const ProblemId id = problem_id(problem);
  dispatch_->put_problem(id, terms_of(problem), stamp());
  problems_[problem].recorded = &dispatch_->begin_stage(id, setup_of(problem), stamp(), instance_.log);
}

void GridLoop::commit(HostId host, const Commit& commit, policy::Changes& changes) {
  SimulatedProblem& problem = problems_[commit.problem];
  const auto outcome =
      problem.recorded->commit(host, commit.unit, commit.range, commit.last, stamp(), changes);
  for (const Range range : outcome.accepted) {
    accepted_work_ += jobs_[commit.problem].costs.of(range);
    if (instance_.check_every == 0) continue;
    CHECK_TRUE(!problem.accepted.overlaps(range));  // nothing is accepted twice
    problem.accepted.add(range);
  }
  if (liars_ && outcome.refusal.empty()) {
    problem.opinions.deliver(commit.range, host, commit.wrong ? commit.unit.value : 0);
    judge(problem, outcome.overlapping);
  }
  if (run_.t95 == 0 && accepted_work_ >= tail_share * total_work_) run_.t95 = now_;
}

// As the live server does with overlapping results (service/review.cpp).
void GridLoop::judge(SimulatedProblem& problem, const std::vector<Range>& ranges) {
  for (const Range range : ranges) {
    for (const auto& finding : problem.opinions.review(range, instance_.rules.opinions_max)) {
      policy::StageEvent event = policy::ResolveEvent{finding.range, true};
      if (finding.kind == policy::VerdictKind::agree) continue;
      if (finding.kind == policy::VerdictKind::need_another) {
        event = policy::DisputeEvent{finding.range, finding.hosts};
      } else if (finding.kind == policy::VerdictKind::undecided) {
        event = policy::ResolveEvent{finding.range, false};
      }
      static_cast<void>(problem.recorded->play(event, stamp()));
    }
  }
}

void GridLoop::request(const Message& message, Reply& reply, policy::Changes& changes) {
  reply.slot = message.slot;
  reply.urgent = message.urgent;
  const GridHost& real = instance_.hosts[message.host];
  demand_.host = host_id(message.host);
  demand_.slots.assign(1, {*message.slot, message.urgent});
  demand_.offer.cores = real.slots;
  demand_.proposal.performance = performance_of(real);
  demand_.proposal.queue_current = real.queue;
  demand_.proposal.watts = real.watts;
  demand_.units.assign(1, UnitId{next_unit_});
  make_plans();
  policy::Served served = dispatch_->request(demand_, stamp());
  for (auto& [problem, more] : served.changes) {
    changes.units.insert(changes.units.end(), more.units.begin(), more.units.end());
    changes.hosts.insert(changes.hosts.end(), more.hosts.begin(), more.hosts.end());
    changes.decisions.insert(changes.decisions.end(), std::make_move_iterator(more.decisions.begin()),
                             std::make_move_iterator(more.decisions.end()));
  }
  reply.retry_after = served.retry_after;
  for (const policy::SlotGrant& granted : served.grants) grant(granted, reply);
}

void GridLoop::grant(const policy::SlotGrant& granted, Reply& reply) {
  ++next_unit_;
  ++run_.grants;
  const auto problem = static_cast<std::size_t>(granted.problem.value - 1);
  const policy::Unit* unit = problems_[problem].stage().unit(granted.unit);
  reply.unit = granted.unit;
  reply.problem = problem;
  reply.range = unit->range;
  reply.kind = unit->kind;
  reply.begun_share = unit->begun_share;
  if (instance_.sample_seconds > 0)
    run_.grants_made.push_back(
        {now_, static_cast<std::uint32_t>(reply.host), unit->range.size(), unit->kind});
}

// As a server does once a second. A plan is there at once; a search ends after so many looks at the time.
void GridLoop::tick() {
  if (now_ < ticks_at_) return;
  ticks_at_ = now_ + 1;
  dispatch_->tick(stamp());
}

void GridLoop::make_plans() {
  for (const policy::PlanJob& job : dispatch_->take_jobs()) {
    int looks = 0;
    dispatch_->planned(job, policy::make_plan(job, [&] { return ++looks > planning_looks_max; }), 0, stamp());
  }
}

// What was stored is all that is left.
void GridLoop::restart() {
  std::vector<policy::RestoreEvent> stored;
  std::vector<double> service;
  for (std::size_t i = 0; i < problems_.size(); ++i) {
    stored.emplace_back();
    service.push_back(dispatch_->shares().service(problem_id(i), stamp()));
    if (problems_[i].recorded == nullptr) continue;
    const policy::Stage& stage = problems_[i].stage();
    for (const policy::Unit* unit : stage.open_units()) stored[i].units.push_back(*unit);
    for (const policy::HostRecord* record : stage.hosts()) stored[i].hosts.push_back(*record);
    stored[i].accepted = stage.accepted().ranges();
    stored[i].set_aside = stage.set_aside().ranges();
  }
  put_hosts();
  for (std::size_t i = 0; i < problems_.size(); ++i) {
    SimulatedProblem& problem = problems_[i];
    if (problem.recorded == nullptr) continue;
    const ProblemId id = problem_id(i);
    dispatch_->put_problem(id, terms_of(i), stamp(), service[i]);
    problem.recorded = &dispatch_->restore_stage(id, setup_of(i), stored[i], stamp(), instance_.log);
    if (instance_.check_every > 0) problem.stage().check_invariants();
  }
}

}  // namespace gleaner::simulator
