#include "tools/simulator/grid_loop.h"

#include <algorithm>
#include <functional>

#include "server/policy/strategies.h"
#include "tools/simulator/fluid.h"

namespace gleaner::simulator {
namespace {

const std::vector<double>& hints_of(const GridProblem& problem) {
  static const std::vector<double> none;
  if (!problem.hints) return none;
  return problem.hint_costs.empty() ? problem.costs : problem.hint_costs;
}

double ideal_of(const GridInstance& instance) {
  return instance.ideal_seconds > 0 ? instance.ideal_seconds : ideal_makespan(instance);
}

void add(const policy::StageCounts& one, policy::StageCounts& all) {
  all.items += one.items;
  all.accepted += one.accepted;
  all.free += one.free;
  all.handed_out += one.handed_out;
  all.set_aside += one.set_aside;
  all.cost += one.cost;
  all.cost_accepted += one.cost_accepted;
  all.cost_wasted += one.cost_wasted;
  all.units += one.units;
  all.open_units += one.open_units;
  all.splits += one.splits;
  all.recovered += one.recovered;
  all.copies += one.copies;
  all.disputes += one.disputes;
  all.contributors = std::max(all.contributors, one.contributors);
}

}  // namespace

void Reply::clear() {
  orders.clear();
  refused.clear();
  grants.clear();
  slots = 0;
  urgent = false;
  retry_after = interval = 0;
}

policy::StageSetup GridLoop::setup_of(std::size_t index) const {
  const GridProblem& problem = jobs_[index].problem;
  policy::StageSetup setup;
  setup.items = problem.items;
  setup.costs = hints_of(problem);
  setup.sizing = policy::sizing_of(instance_.sizing);
  setup.straggler = instance_.straggler;
  setup.commit_seconds = instance_.commit_seconds;
  setup.may_split = problem.may_split;
  setup.rules = instance_.rules;
  setup.explain = instance_.keep_decisions || instance_.log;
  if (instance_.benchmark_known) setup.benchmark_worth = 1 / problem.item_seconds;
  return setup;
}

policy::PlanRules plan_rules(const GridInstance& instance) {
  policy::PlanRules rules;
  rules.heartbeat = instance.rules.heartbeat;
  rules.unit_maximum = instance.rules.unit_maximum;
  return rules;
}

GridLoop::GridLoop(const GridInstance& instance)
    : instance_(instance),
      agenda_(instance.hosts.size()),
      random_(instance.seed),
      project_(plan_rules(instance), instance.log),
      results_(project_, [this](policy::ProjectChanges changes) { perform(std::move(changes)); }),
      trust_{.draws = Random(instance.seed + 1)} {
  for (const GridProblem* problem : instance.problems()) {
    jobs_.push_back({*problem, {problem->items, problem->costs}, {problem->items, hints_of(*problem)}});
    problems_.emplace_back();
    total_work_ += jobs_.back().costs.total();
  }
  hosts_.reserve(instance.hosts.size());
  for (const GridHost& host : instance.hosts) {
    hosts_.emplace_back(host);
    trust_.liars = trust_.liars || host.wrong_chance > 0 || host.cheating.lies > 0;
  }
  set_trust();
  sample_at_ = instance.sample_seconds > 0 ? 0 : Agenda::never;
  server_.held.resize(instance.hosts.size());
  put_hosts();
}

GridRun GridLoop::run() {
  for (std::size_t id = 0; id < hosts_.size(); ++id) {
    LocalHost& host = hosts_[id];
    if (!host.trace.next(host.coming)) host.coming.at = Agenda::never;
    agenda_.set(id, host.due());
  }
  for (const double at : instance_.restarts) mail_.send({at});
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    const double at = jobs_[i].problem.arrives_at;
    if (at > 0) {
      mail_.send({at, {}, {}, i});
    } else {
      add_problem(i);
    }
  }
  while (!over_) {
    const bool message = !mail_.empty() && mail_.next_at() <= agenda_.time();
    const double time = message ? mail_.next_at() : agenda_.time();
    if (time > instance_.give_up_after) break;
    while (sample_at_ <= time) sample();
    now_ = time;
    ++run_.events;
    hosts_[message ? agenda_.host() : agenda_.host_after()].fetch();  // probably the next one that is due
    if (message) {
      Arrival arrival = mail_.pop();
      fetch_next_letter();
      arrive(std::move(arrival));
    } else {
      fetch_next_letter();
      const std::size_t host = agenda_.host();
      host_due(host);
      agenda_.set(host, hosts_[host].due());
    }
  }
  finish();
  return std::move(run_);
}

// Of many thousand units and hosts, those of the next letter are nearly always far from the processor.
void GridLoop::fetch_next_letter() const {
  if (mail_.empty()) return;
  const Arrival& next = mail_.next();
  if (next.message) {
    for (const Report& report : next.message->reports)
      problems_[report.problem].stage().fetch(report.report.unit);
    for (const Commit& commit : next.message->commits)
      if (commit.last) problems_[commit.problem].stage().fetch(commit.unit);  // no report names it
  } else if (next.reply) {
    hosts_[next.reply->host].fetch();
  }
}

void GridLoop::arrive(Arrival arrival) {
  if (arrival.message) {
    if (instance_.service_seconds > 0 && !arrival.waited) {  // its turn comes when all before it are served
      server_.free_at = std::max(server_.free_at, now_) + instance_.service_seconds;
      arrival.time = server_.free_at;
      arrival.waited = true;
      return mail_.put_back(std::move(arrival));
    }
    at_server(*arrival.message);
    mail_.keep(std::move(arrival.message));
  } else if (arrival.reply) {
    at_client(*arrival.reply);
    agenda_.set(arrival.reply->host, hosts_[arrival.reply->host].due());
    mail_.keep(std::move(arrival.reply));
  } else if (arrival.problem) {
    add_problem(*arrival.problem);
  } else {
    restart();
  }
}

// One thing that is due at host `id` now.
void GridLoop::host_due(std::size_t id) {
  LocalHost& host = hosts_[id];
  host.advance(jobs_, now_);
  if (host.coming.at <= now_) return trace_event(id);
  for (std::size_t index = 0; index < host.slots.size(); ++index)
    if (host.slots[index].ends_at <= now_) slot_end(id, index);
  if (host.busy && host.gives_up_at <= now_) return give_up(id);
  exchange(id);
}

void GridLoop::sample() {
  GridSample sample{sample_at_, 0, 0};
  for (const LocalHost& host : hosts_) {
    if (host.speed() <= 0) continue;
    for (const LocalSlot& slot : host.slots) {
      ++sample.able;
      sample.busy += slot.units.empty() ? 0 : 1;
    }
  }
  run_.samples.push_back(sample);
  sample_at_ += instance_.sample_seconds;
}

void GridLoop::finish() {
  run_.complete = true;
  const bool alone = problems_.size() == 1 && instance_.arrives_at == 0;
  const std::vector<double> fair = alone ? std::vector<double>{ideal_of(instance_)} : fair_ends(instance_);
  for (std::size_t i = 0; i < problems_.size(); ++i) {
    const SimulatedProblem& problem = problems_[i];
    const bool here = problem.recorded != nullptr;
    if (here && instance_.check_every > 0) problem.stage().check_invariants();
    const bool complete = here && problem.stage().complete();
    run_.complete = run_.complete && complete;
    run_.problems.push_back({complete, problem.stopped, problem.over ? problem.ended_at : now_, fair[i]});
    run_.ideal = std::max(run_.ideal, fair[i]);
    run_.wrong_items += results_.wrong_items(problem_id(i));
    if (here) add(problem.stage().counts(stamp()), run_.counts);
  }
  run_.makespan = now_;
  sum_trust();
  double work = 0;
  run_.first_dry = now_;
  for (std::size_t id = 0; id < hosts_.size(); ++id) {
    LocalHost& host = hosts_[id];
    host.advance(jobs_, now_);
    work += host.work;
    run_.joules += instance_.hosts[id].watts * host.work / instance_.hosts[id].speed;
    GridHostResult result;
    result.work = host.work;
    for (std::size_t slot_index = 0; slot_index < host.slots.size(); ++slot_index) {
      const LocalSlot& slot = host.slots[slot_index];
      for (const LocalUnit& unit : slot.units) {
        if (instance_.sample_seconds > 0)
          run_.spans.push_back({static_cast<std::uint32_t>(id), static_cast<std::uint32_t>(slot_index),
                                unit.taken_at, now_, unit.kind, static_cast<std::uint32_t>(unit.problem)});
      }
      result.dry_at = std::max(result.dry_at, slot.dry_at);
      run_.idle_seconds += slot.idle_seconds;
    }
    for (const SimulatedProblem& problem : problems_) {
      if (problem.recorded == nullptr) continue;
      const auto* record = problem.stage().host(HostId{static_cast<std::int64_t>(id) + 1});
      if (record == nullptr) continue;
      result.units += record->units;
      result.items += record->items_accepted;
      result.cost_accepted += record->cost_accepted;
    }
    if (host.speed() > 0) run_.first_dry = std::min(run_.first_dry, result.dry_at);
    run_.hosts.push_back(result);
  }
  run_.waste =
      accepted_work_ > 0 ? work / accepted_work_ - 1 : 0;  // a run that was cut off counts what it got
}

}  // namespace gleaner::simulator
