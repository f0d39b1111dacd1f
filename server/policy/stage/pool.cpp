// The free pool: which items a host gets and how many. Given-back ranges come first, most recent first, then
// plain order (locality). An item that made a kernel fail is handed out alone, and not to a host that failed
// on it.
#include <algorithm>
#include <cmath>

#include "server/policy/stage/state.h"

namespace gleaner::policy {
namespace {

// Ranges looked at for a host that may not have some; more than any real mixture of failures needs.
constexpr int ranges_looked_at = 256;

}  // namespace

// A host may have another try only where every host that is on has failed on the item, too.
bool StageState::may_take(std::int64_t item, HostId host) const {
  const auto found = failures.find(item);
  if (found == failures.end() || !found->second.contains(host)) return true;
  for (const auto& [id, other] : hosts) {
    if (other.slots_on > 0 && !found->second.contains(id)) return false;
  }
  return true;
}

// The first part of `range` that the host may have in one unit; empty: nothing.
Range StageState::allowed_part(Range range, HostId host) const {
  if (failures.empty()) return range;
  for (int looked = 0; looked < ranges_looked_at && !range.empty(); ++looked) {
    const auto suspect = failures.lower_bound(range.begin);
    if (suspect == failures.end() || suspect->first >= range.end) return range;
    if (suspect->first > range.begin) return {range.begin, suspect->first};
    if (may_take(range.begin, host)) return {range.begin, range.begin + 1};
    ++range.begin;
  }
  return {range.begin, range.begin};
}

Range StageState::next_free(HostId host) {
  for (int looked = 0; looked < ranges_looked_at && !returned.empty(); ++looked) {
    const std::vector<Range> still = free.within(returned.back());
    for (const Range range : still) {
      if (const Range part = allowed_part(range, host); !part.empty()) return part;
    }
    if (!still.empty()) break;  // not for this host: it stays on top for others
    returned.pop_back();
  }
  if (failures.empty()) return free.front();
  int looked = 0;
  for (const Range range : free.ranges()) {
    if (const Range part = allowed_part(range, host); !part.empty()) return part;
    if (++looked == ranges_looked_at) break;
  }
  return {};
}

// R2, as the limits that the sizing strategies know.
GridLimits StageState::grid_limits(const EndgameRules& rules) const {
  GridLimits limits;
  limits.lease_seconds = rules.lease;
  limits.minimum_seconds = rules.unit_minimum;
  limits.target_seconds = limits.maximum_seconds = rules.unit_maximum;
  if (const double rate = fleet.rate_on(); rate > 0) {
    const double left = (free_cost + stalled_cost) / rate;
    limits.target_seconds = std::clamp(rules.guided_fraction * left, rules.unit_minimum, rules.unit_maximum);
  }
  return limits;
}

Size StageState::size_for(const Requester& requester, const EndgameRules& rules) {
  const double mean_cost = free_cost / static_cast<double>(free.total());
  const auto view_of = [&](const HostRecord& record) {
    WorkerView worker;
    worker.host = record.host;
    worker.performance = record.performance;
    worker.queue_unloaded = record.queue_unloaded;
    worker.queue_current = record.queue_current;
    worker.proposed_items = record.proposed_items;
    worker.rate = record.rate / mean_cost;
    worker.rate_estimate = fleet.rate(record) / mean_cost;
    worker.used_performance = record.used_performance;
    worker.requests = record.requests;
    worker.returned = record.returned;
    worker.current_size = record.current_size;
    worker.available = !record.omitted;
    worker.times = record.times.in_items_of(mean_cost);
    return worker;
  };
  SizingView view;
  view.items = setup.items;
  view.free = free.total();
  view.completed = accepted.total();
  view.free_cost = free_cost;
  view.mean_cost = mean_cost;
  view.cost_variation = cost_variation;
  view.memory = sizing_memory;
  view.explain = setup.explain;
  std::vector<WorkerView> workers;
  if (sizing->mode() == SizingMode::paper) {
    for (const auto& [id, host] : hosts) {
      if (id == requester.host) view.requester = workers.size();
      workers.push_back(view_of(host.record));
    }
  } else {
    const HostRecord& record = hosts.at(requester.host).record;
    workers.push_back(view_of(record));
    view.fleet = fleet.totals(mean_cost);
    view.limits = grid_limits(rules);
    view.guided_fraction = rules.guided_fraction;
    if (const double rate = fleet.rate_on(); rate > 0)
      view.remaining_seconds = (free_cost + stalled_cost) / rate;
  }
  view.workers = workers;
  return sizing->size(view);
}

Grant StageState::grant_fresh(const Requester& requester, Timestamp now, Changes& changes) {
  if (free.empty()) return {};
  if (requester.planned) return grant_planned(requester, now, changes);
  const EndgameRules rules = pace();
  LongPick pick;
  if (long_items_matter(rules, now)) pick = pick_long(requester, rules, now);
  if (pick.park) return {{}, 0, "what is free would take this host too long: faster ones are to come"};
  Range from = allowed_part(pick.from, requester.host);
  if (from.empty()) {
    pick = {};
    from = next_free(requester.host);
  }
  if (from.empty()) return {{}, 0, "what is free made a kernel fail on this host"};
  Size size = size_for(requester, rules);
  if (size.items <= 0) return {{}, 0, size.reason};
  Range range{from.begin, std::min(from.end, from.begin + size.items)};
  if (sizing->mode() == SizingMode::grid && costs.hinted()) {
    const double work = static_cast<double>(size.items) * free_cost / static_cast<double>(free.total());
    range.end = std::max(range.begin + 1, costs.head_worth(from, work));
  }
  parked_since = Timestamp::max();
  if (!pick.from.empty()) {
    range.end = fitting_end(range, pick.most_cost);
    size.reason += because("; from item {} on, the longest that fits", range.begin);
  }
  change_host(hosts.at(requester.host), [&](Host& host) {
    host.record.used_performance = size.used_performance;
    host.record.current_size = size.current_size;
    host.record.memory = size.memory;
    ++host.record.requests;
  });
  sizing_memory = size.memory;
  open_unit(requester, UnitKind::fresh, range, {}, std::move(size.reason), now, changes);
  return {requester.unit, 0, {}};
}

// What a mapping strategy planned, as far as it is free and the host may have it.
Grant StageState::grant_planned(const Requester& requester, Timestamp now, Changes& changes) {
  const double wait = pace().park;
  if (requester.planned->empty()) return {{}, wait, "the plan has nothing for this slot now"};
  const std::vector<Range> parts = free.within(*requester.planned);
  if (parts.empty()) return {{}, wait, "what was planned for this slot is taken"};
  const Range range = allowed_part(parts.front(), requester.host);
  if (range.empty()) return {{}, wait, "what was planned made a kernel fail on this host"};
  change_host(hosts.at(requester.host), [](Host& host) { ++host.record.requests; });
  open_unit(requester, UnitKind::fresh, range, {}, requester.planned_reason, now, changes);
  return {requester.unit, 0, {}};
}

}  // namespace gleaner::policy
