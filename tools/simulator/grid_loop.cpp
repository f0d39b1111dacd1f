#include "tools/simulator/grid_loop.h"

#include <algorithm>
#include <functional>

#include "tools/simulator/fluid.h"

namespace gleaner::simulator {
namespace {

const std::vector<double>& hints_of(const GridInstance& instance) {
  static const std::vector<double> none;
  if (!instance.hints) return none;
  return instance.hint_costs.empty() ? instance.costs : instance.hint_costs;
}

}  // namespace

policy::StageSetup stage_setup(const GridInstance& instance) {
  policy::StageSetup setup;
  setup.items = instance.items;
  setup.costs = hints_of(instance);
  setup.sizing = instance.sizing;
  setup.straggler = instance.straggler;
  setup.may_split = instance.may_split;
  setup.rules = instance.rules;
  setup.explain = instance.keep_decisions || instance.log;
  if (instance.benchmark_known) setup.benchmark_worth = 1 / instance.item_seconds;
  return setup;
}

GridLoop::GridLoop(const GridInstance& instance)
    : instance_(instance),
      job_{instance, {instance.items, instance.costs}, {instance.items, hints_of(instance)}},
      recorded_(stage_setup(instance), instance.log),
      random_(instance.seed),
      agenda_(instance.hosts.size()) {
  hosts_.reserve(instance.hosts.size());
  for (const GridHost& host : instance.hosts) {
    hosts_.emplace_back(host);
    liars_ = liars_ || host.wrong_chance > 0;
  }
  sample_at_ = instance.sample_seconds > 0 ? 0 : Agenda::never;
}

GridRun GridLoop::run() {
  for (std::size_t id = 0; id < hosts_.size(); ++id) {
    LocalHost& host = hosts_[id];
    if (!host.trace.next(host.coming)) host.coming.at = Agenda::never;
    agenda_.set(id, host.due());
  }
  for (const double at : instance_.restarts) push({at, ++order_});
  while (!over_) {
    const bool message = !arrivals_.empty() && arrivals_.front().time <= agenda_.time();
    const double time = message ? arrivals_.front().time : agenda_.time();
    if (time > instance_.give_up_after) break;
    while (sample_at_ <= time) sample();
    now_ = time;
    ++run_.events;
    if (message) {
      arrive(pop());
    } else {
      const std::size_t host = agenda_.host();
      host_due(host);
      agenda_.set(host, hosts_[host].due());
    }
  }
  finish();
  return std::move(run_);
}

void GridLoop::push(Arrival arrival) {
  arrivals_.push_back(std::move(arrival));
  std::push_heap(arrivals_.begin(), arrivals_.end(), std::greater<>());
}

GridLoop::Arrival GridLoop::pop() {
  std::pop_heap(arrivals_.begin(), arrivals_.end(), std::greater<>());
  Arrival first = std::move(arrivals_.back());
  arrivals_.pop_back();
  return first;
}

void GridLoop::arrive(Arrival arrival) {
  if (arrival.message) {
    if (instance_.service_seconds > 0 && !arrival.waited) {  // its turn comes when all before it are served
      server_free_at_ = std::max(server_free_at_, now_) + instance_.service_seconds;
      arrival.time = server_free_at_;
      arrival.waited = true;
      return push(std::move(arrival));
    }
    at_server(*arrival.message);
  } else if (arrival.reply) {
    at_client(*arrival.reply);
    agenda_.set(arrival.reply->host, hosts_[arrival.reply->host].due());
  } else {
    restart();
  }
}

// One thing that is due at host `id` now.
void GridLoop::host_due(std::size_t id) {
  LocalHost& host = hosts_[id];
  host.advance(job_, now_);
  if (host.coming.at <= now_) return trace_event(id);
  for (std::size_t index = 0; index < host.slots.size(); ++index) {
    LocalSlot& slot = host.slots[index];
    if (slot.ends_at <= now_) return slot_end(id, index);
    if (slot.asks_at <= now_) {
      slot.asks_at = Agenda::never;
      return ask(id, index, false);
    }
    if (slot.retries_at <= now_) {
      slot.retries_at = Agenda::never;
      slot.asking = false;
      if (slot.units.empty()) ask(id, index, true);
      return;
    }
  }
  beat(id);
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
  if (instance_.check_every > 0) stage().check_invariants();
  run_.complete = stage().complete();
  run_.makespan = now_;
  run_.ideal = instance_.ideal_seconds > 0 ? instance_.ideal_seconds : ideal_makespan(instance_);
  run_.counts = stage().counts(stamp());
  double work = 0;
  run_.first_dry = now_;
  for (std::size_t id = 0; id < hosts_.size(); ++id) {
    LocalHost& host = hosts_[id];
    host.advance(job_, now_);
    work += host.work;
    GridHostResult result;
    result.work = host.work;
    for (std::size_t slot_index = 0; slot_index < host.slots.size(); ++slot_index) {
      const LocalSlot& slot = host.slots[slot_index];
      for (const LocalUnit& unit : slot.units) {
        if (instance_.sample_seconds > 0)
          run_.spans.push_back({static_cast<std::uint32_t>(id), static_cast<std::uint32_t>(slot_index),
                                unit.taken_at, now_, unit.kind});
      }
      result.dry_at = std::max(result.dry_at, slot.dry_at);
      run_.idle_seconds += slot.idle_seconds;
    }
    if (const auto* record = stage().host(HostId{static_cast<std::int64_t>(id) + 1})) {
      result.units = record->units;
      result.items = record->items_accepted;
      result.cost_accepted = record->cost_accepted;
    }
    if (host.speed() > 0) run_.first_dry = std::min(run_.first_dry, result.dry_at);
    run_.hosts.push_back(result);
  }
  run_.wrong_items = opinions_.wrong_items();
  run_.waste =
      accepted_work_ > 0 ? work / accepted_work_ - 1 : 0;  // a run that was cut off counts what it got
}

}  // namespace gleaner::simulator
