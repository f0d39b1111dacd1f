// What hosts say: progress, finished prefixes, failures; and what time brings: leases that run out, omission.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "server/policy/stage/straggler.h"

namespace gleaner::policy {
namespace {

// Divisible strategies, section 2a: when so much is completed, workers that have returned nothing are left
// out.
constexpr double omission_share = 0.7;
// An item that failed so often on few hosts is set aside, too.
constexpr int failures_factor = 3;
// What is done of an item tells how long it will take once it has taken so much of the shortest unit.
constexpr double share_after = 1.0 / 6;
// Section 4: a lease that ran out halves the worker's rate.
constexpr double expiry_rate_factor = 0.5;

}  // namespace

protocol::UnitOrder StageState::report(HostId host, const protocol::UnitReport& report, Timestamp now,
                                       Changes& changes) {
  refresh(now, changes);
  Held* held = find(report.unit, host);
  if (held == nullptr) {
    return {report.unit, protocol::UnitAction::cancel, report.finished,
            "this stage has no such unit of this host"};
  }
  Unit& unit = held->unit;
  if (unit.state != UnitState::open) {
    const std::string why = unit.pause_reason.empty() ? std::string("it is finished") : unit.pause_reason;
    return {unit.id, protocol::UnitAction::cancel, unit.range.end, why};
  }
  const EndgameRules rules = pace();
  contact(*held, now, rules);
  const std::int64_t finished =
      std::clamp(report.finished, unit.finished, std::max(unit.finished, unit.range.end));
  const bool material = finished != unit.finished || report.state != unit.run_state || unit.cut_unheard;
  if (material) changes.units.push_back(unit.id);
  if (unit.run_state == protocol::RunState::paused)
    held->paused_seconds += std::max(0.0, report.running_seconds - held->clock_seconds);
  finish_up_to(*held, finished);
  if (finished >= unit.range.end && held->finished_at == Timestamp::max()) held->finished_at = now;
  unit.run_state = report.state;
  unit.pause_reason = report.state == protocol::RunState::paused ? report.reason : std::string();
  unit.rate_minute = std::max(0.0, report.rate);
  unit.item_seconds = std::max(0.0, report.item_seconds);
  held->item_share = rules.see_progress && unit.item_seconds >= share_after * rules.unit_minimum
                         ? std::clamp(report.item_share, 0.0, 1.0)
                         : 0;
  unit.running_seconds = std::max(unit.running_seconds, report.running_seconds);
  unit.cut_unheard = false;
  held->clock_seconds = std::max(held->clock_seconds, report.running_seconds);
  learn(*held, rules);
  held->clock_at = now;
  held->clock_runs = report.state == protocol::RunState::running;
  measure(*held, rules, false, changes);
  const bool undelivered = held->finished_at != Timestamp::max() && !only_delivery_missing(*held, now);
  const bool pausing = report.state == protocol::RunState::paused || too_slow(*held, rules);
  const bool stuck = undelivered || (pausing && rules.see_stalls && rules.see_pauses);
  if (stuck && !held->stuck) {
    held->stuck = true;
    mark_stalled(*held, now);
  } else if (!stuck && held->stuck) {
    held->stuck = false;
    if (held->group != nullptr) index_group(*held->group);
  }
  update_slot(*held->slot, now);
  estimate_slot(*held->slot, now);
  return {unit.id, protocol::UnitAction::go_on, unit.range.end, {}};
}

CommitOutcome StageState::judge(HostId host, UnitId id, Range range) const {
  CommitOutcome outcome;
  const Held* held = find(id, host);
  if (held == nullptr) {
    outcome.known_unit = false;
    outcome.refusal = fmt::format("unit {} is not one that this stage gave to this host", id.value);
    return outcome;
  }
  const Unit& unit = held->unit;
  const std::int64_t end = std::max(unit.handed_end, unit.range.end);
  if (range.empty() || range.begin < unit.range.begin || range.end > end) {
    outcome.refusal = fmt::format("items [{}, {}) are outside of unit {}, which is [{}, {})", range.begin,
                                  range.end, id.value, unit.range.begin, end);
    return outcome;
  }
  if (range.begin > unit.committed) {
    outcome.refusal = fmt::format("items before {} are missing: the next commit of unit {} starts at {}",
                                  range.begin, id.value, unit.committed);
    return outcome;
  }
  if (enough) {
    outcome.refusal = "the problem needs no more results of this stage";
    return outcome;
  }
  outcome.accepted = accepted.missing(range);
  if (!undecided.empty()) {
    for (const Range part : std::exchange(outcome.accepted, {})) {
      for (const Range open_part : undecided.missing(part)) outcome.accepted.push_back(open_part);
    }
  }
  outcome.overlapping = accepted.within(range);
  return outcome;
}

CommitOutcome StageState::commit(HostId host_id, UnitId id, Range range, bool last, Timestamp now,
                                 Changes& changes) {
  refresh(now, changes);
  CommitOutcome outcome = judge(host_id, id, range);
  if (!outcome.refusal.empty()) return outcome;
  Held& held = *find(id, host_id);
  Unit& unit = held.unit;
  const bool is_open = unit.state == UnitState::open;
  Host& host = hosts.at(host_id);
  HostRecord& record = host.record;
  if (is_open) contact(held, now, pace());

  const Range fresh{unit.committed, std::max(unit.committed, range.end)};
  for (const Range part : outcome.accepted) {
    accepted.add(part);
    remove_free(part);
    set_aside.remove(part);
    if (!failures.empty()) failures.erase(failures.lower_bound(part.begin), failures.lower_bound(part.end));
    forget(part);
    forget_saved(part);
    const double cost = costs.of(part);
    accepted_cost += cost;
    if (record.items_accepted == 0 && part.size() > 0) ++givers;
    record.items_accepted += part.size();
    record.cost_accepted += cost;
  }
  // What was assumed lost has come after all; what came twice is waste, unless a second opinion was asked
  // for.
  const double back = std::min(held.waste_charged, costs.of(fresh));
  held.waste_charged -= back;
  double wasted = -back;
  if (unit.kind != UnitKind::check) {
    for (const Range part : outcome.overlapping) wasted += costs.of(intersection(part, fresh));
  }
  record.cost_wasted += wasted;
  wasted_cost += wasted;

  if (is_open && unit.kind != UnitKind::check) {
    cover.remove(id, {unit.committed, std::min(std::max(unit.committed, range.end), unit.range.end)});
  }
  unit.committed = std::max(unit.committed, range.end);
  finish_up_to(held, unit.committed);
  if (!held.returned) {
    held.returned = true;
    change_host(host, [](Host& changed) { ++changed.record.returned; });
  }
  changes.units.push_back(id);
  changes.hosts.push_back(host_id);
  for (const Range part : outcome.accepted) trim_others(id, host_id, part, now, changes);
  const bool accepted_all =
      unit.kind != UnitKind::check && accepted.contains(Range{unit.committed, unit.range.end});
  if (is_open) {
    if (unit.committed >= unit.range.end || accepted_all) {
      close(id, UnitState::done, {}, now, changes);
    } else if (last) {
      close(id, UnitState::cancelled, "the host ended it early", now, changes);
    } else {
      measure(held, pace(), false, changes);
      estimate_slot(*held.slot, now);
    }
  }
  omit(now, changes);
  return outcome;
}

void StageState::note_failure(HostId host, std::int64_t item, const std::string& reason, Timestamp now,
                              Changes& changes) {
  if (accepted.contains(item) || set_aside.contains(item)) return;
  forget_saved({item, item + 1});  // it may be why
  auto& by_host = failures[item];
  ++by_host[host];
  int times = 0;
  for (const auto& [id, count] : by_host) times += count;
  const int limit = setup.rules.failures_set_aside;
  if (static_cast<int>(by_host.size()) < limit && times < limit * failures_factor) return;
  const Range range{item, item + 1};
  decide(changes, now, host, {}, "set-aside", range,
         because("it failed {} times on {} hosts; last: {}", times, by_host.size(), reason));
  failures.erase(item);
  // Set aside before the units that hold it are cut, so that nobody gets it back as free.
  remove_free(range);
  set_aside.add(range);
}

void StageState::omit(Timestamp now, Changes& changes) {
  if (!rule->omits() || omission_done) return;
  if (static_cast<double>(accepted.total()) < omission_share * static_cast<double>(setup.items)) return;
  omission_done = true;
  std::vector<UnitId> given_up;
  for (auto& [id, host] : hosts) {
    if (host.record.returned > 0 || host.record.requests == 0) continue;
    change_host(host, [](Host& changed) { changed.record.omitted = true; });
    changes.hosts.push_back(id);
    decide(changes, now, id, {}, "omit", {}, "70 % are completed and it has returned nothing");
    const auto first = static_cast<std::ptrdiff_t>(given_up.size());
    for (const auto& [unit, held] : open) {
      if (held.unit.host == id) given_up.push_back(unit);
    }
    std::sort(given_up.begin() + first, given_up.end());
  }
  for (const UnitId unit : given_up) {
    if (open.contains(unit)) close(unit, UnitState::cancelled, "its host was left out", now, changes);
  }
}

void StageState::expire(Timestamp now, Changes& changes) {
  while (!silent_units.empty() && silent_units.begin()->first <= now) {
    const UnitId id = silent_units.begin()->second;
    const Held& held = open.at(id);
    decide(changes, now, held.unit.host, id, "expire", held.unit.range,
           because("nothing was heard of it for {:.0f} s", seconds_between(held.unit.last_contact, now)));
    change_host(*held.host, [](Host& host) { host.record.rate *= expiry_rate_factor; });
    close(id, UnitState::expired, "its lease ran out", now, changes);
  }
}

}  // namespace gleaner::policy
