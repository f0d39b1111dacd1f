#include "tools/simulator/grid_loop.h"

namespace gleaner::simulator {
namespace {

constexpr double tail_share = 0.95;
// Where no problem has anything for a host: as the live server says it.
constexpr double nothing_retry = 5, soonest_retry = 0.25;

double performance_of(const GridHost& host) {
  return host.performance > 0 ? host.performance : host.speed;
}

}  // namespace

void GridLoop::at_server(const Message& message) {
  const HostId host{static_cast<std::int64_t>(message.host) + 1};
  policy::Changes changes;
  Reply reply;
  reply.host = message.host;
  for (const Commit& part : message.commits) commit(host, part, changes);
  for (const auto& [problem, report] : message.reports) {
    reply.orders.push_back(problems_[problem].recorded.report(host, report, stamp(), changes));
  }
  for (const auto& [problem, unit, item, share] : message.saved)
    problems_[problem].recorded.save(host, unit, item, share, stamp());
  if (message.failure) {
    problems_[message.failure->problem].recorded.give_back(
        host, message.failure->unit, policy::Stage::GiveBack::failed, message.failure->range.begin,
        "the kernel crashed", stamp(), changes);
  }
  if (message.slot) request(message, reply, changes);
  const bool check_all = instance_.check_every > 0 && ++received_ % instance_.check_every == 0;
  reply.interval = Agenda::never;
  for (SimulatedProblem& problem : problems_) {
    if (!problem.here) continue;
    if (!problem.over) {
      problem.recorded.tick(stamp(), changes);
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
    const policy::Stage& stage = problem.stage();
    const std::int64_t items = jobs_[static_cast<std::size_t>(&problem - problems_.data())].problem.items;
    problem.over = stage.complete() || (stage.accepted().total() + stage.set_aside().total() >= items &&
                                        (!liars_ || stage.open_units().empty()));
    if (problem.over) problem.ended_at = now_;
    over_ = over_ && problem.over;
  }
}

policy::ShareView GridLoop::share_of(std::size_t problem) const {
  const GridProblem& given = jobs_[problem].problem;
  return {ProblemId{static_cast<std::int64_t>(problem) + 1}, given.weight, given.priority,
          problems_[problem].service};
}

// As the live server does (service/problems.cpp).
void GridLoop::add_problem(std::size_t problem) {
  std::vector<policy::ShareView> others;
  for (std::size_t i = 0; i < problems_.size(); ++i) {
    if (problems_[i].here && !problems_[i].over) others.push_back(share_of(i));
  }
  problems_[problem].service = policy::starting_service(others);
  problems_[problem].here = true;
  problems_[problem].recorded.expect(idle_hosts(), stamp());
}

// Who was told to ask again, and what its owner says it draws, as the live server knows it.
std::vector<policy::IdleHost> GridLoop::idle_hosts() const {
  std::vector<policy::IdleHost> idle;
  for (std::size_t id = 0; id < hosts_.size(); ++id) {
    const GridHost& real = instance_.hosts[id];
    if (real.watts <= 0 || !hosts_[id].answers()) continue;
    policy::IdleHost host{HostId{static_cast<std::int64_t>(id) + 1}, 0, performance_of(real), real.watts, {}};
    double asks_at = Agenda::never;
    for (const LocalSlot& slot : hosts_[id].slots) {
      if (!slot.units.empty() || slot.retries_at == Agenda::never) continue;
      ++host.slots;
      asks_at = std::min(asks_at, slot.retries_at);
    }
    host.asks_at = start_ + from_seconds(asks_at + instance_.request_delay / 2);
    if (host.slots > 0) idle.push_back(host);
  }
  return idle;
}

void GridLoop::commit(HostId host, const Commit& commit, policy::Changes& changes) {
  SimulatedProblem& problem = problems_[commit.problem];
  const auto outcome =
      problem.recorded.commit(host, commit.unit, commit.range, commit.last, stamp(), changes);
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
      static_cast<void>(problem.recorded.play(event, stamp()));
    }
  }
}

// Whose turn it is, as in the live server (service/work.cpp).
std::vector<std::size_t> GridLoop::order_for(HostId host) const {
  if (problems_.size() == 1 && problems_[0].here) return {0};
  std::vector<policy::ShareView> candidates;
  for (std::size_t i = 0; i < problems_.size(); ++i) {
    const SimulatedProblem& problem = problems_[i];
    if (problem.here && !problem.over && problem.stage().has_work_for(host, stamp()))
      candidates.push_back(share_of(i));
  }
  std::vector<std::size_t> order;
  for (const ProblemId id : policy::order_by_share(candidates))
    order.push_back(static_cast<std::size_t>(id.value - 1));
  return order;
}

void GridLoop::request(const Message& message, Reply& reply, policy::Changes& changes) {
  reply.slot = message.slot;
  reply.urgent = message.urgent;
  const HostId host{static_cast<std::int64_t>(message.host) + 1};
  for (const std::size_t problem : order_for(host)) {
    if (request_of(problem, message, reply, changes)) return;
  }
  if (reply.retry_after > 0) return;
  reply.retry_after = nothing_retry;
  for (const SimulatedProblem& problem : problems_) {
    if (problem.here && !problem.over)
      reply.retry_after =
          std::min(reply.retry_after, std::max(soonest_retry, problem.stage().heartbeat_seconds(stamp())));
  }
}

bool GridLoop::request_of(std::size_t index, const Message& message, Reply& reply, policy::Changes& changes) {
  const GridHost& real = instance_.hosts[message.host];
  SimulatedProblem& problem = problems_[index];
  policy::Requester requester;
  requester.host = HostId{static_cast<std::int64_t>(message.host) + 1};
  requester.slot = *message.slot;
  requester.urgent = message.urgent;
  requester.slots = real.slots;
  requester.performance = performance_of(real);
  requester.queue_current = real.queue;
  requester.watts = real.watts;
  requester.unit = UnitId{next_unit_};
  const policy::Grant grant = problem.recorded.request(requester, stamp(), changes);
  if (!grant.unit) {
    if (reply.retry_after <= 0 || grant.retry_after < reply.retry_after)
      reply.retry_after = grant.retry_after;
    return false;
  }
  ++next_unit_;
  ++run_.grants;
  const policy::Unit* granted = problem.stage().unit(*grant.unit);
  reply.unit = *grant.unit;
  reply.problem = index;
  reply.range = granted->range;
  reply.kind = granted->kind;
  reply.begun_share = granted->begun_share;
  const policy::HostRecord* record = problem.stage().host(requester.host);
  problem.service = policy::charge(share_of(index), record != nullptr && record->rate > 0
                                                        ? problem.stage().cost(granted->range) / record->rate
                                                        : 1);
  if (instance_.sample_seconds > 0)
    run_.grants_made.push_back(
        {now_, static_cast<std::uint32_t>(message.host), granted->range.size(), granted->kind});
  return true;
}

void GridLoop::restart() {
  for (std::size_t i = 0; i < problems_.size(); ++i) {
    SimulatedProblem& problem = problems_[i];
    const policy::Stage& stage = problem.stage();
    std::vector<policy::Unit> units;
    for (const policy::Unit* unit : stage.open_units()) units.push_back(*unit);
    std::vector<policy::HostRecord> records;
    for (const policy::HostRecord* record : stage.hosts()) records.push_back(*record);
    const auto accepted = stage.accepted().ranges(), set_aside = stage.set_aside().ranges();
    problem.recorded = make_stage(i);
    problem.recorded.restore(accepted, units, records, set_aside, stamp());
    if (instance_.check_every > 0) problem.stage().check_invariants();
  }
}

}  // namespace gleaner::simulator
