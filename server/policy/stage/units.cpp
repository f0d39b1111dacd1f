// A unit's life, and the one rule behind "handed out + free + accepted = N": whenever a unit lets go of
// items, those that no other open unit holds and nobody delivered are free again.
#include <algorithm>
#include <optional>

#include "server/policy/stage/state.h"

namespace gleaner::policy {
namespace {

// Closed units are remembered for late results of returning hosts; the oldest are forgotten.
constexpr std::size_t closed_units_max = 50'000;

bool is_copy(UnitKind kind) {
  return kind == UnitKind::copy || kind == UnitKind::flood;
}

// When the first of its live members is expected to end; nothing: none is live.
std::optional<Timestamp> first_end(const Group& group) {
  std::optional<Timestamp> first;
  for (const Held* held : group.members) {
    if (held->live() && (!first || held->expected_end < *first)) first = held->expected_end;
  }
  return first;
}

}  // namespace

void StageState::decide(Changes& changes, Timestamp now, HostId host, UnitId unit, const char* kind,
                        Range range, std::string reason) const {
  if (setup.explain) changes.decisions.push_back({now, host, unit, kind, range, std::move(reason)});
}

void StageState::add_free(Range range) {
  for (const Range part : free.missing(range)) free_cost += costs.of(part);
  free.add(range);
  if (free_by_cost) free_by_cost->add(range);
}

void StageState::remove_free(Range range) {
  if (!free.overlaps(range)) return;
  for (const Range part : free.within(range)) free_cost -= costs.of(part);
  free.remove(range);
  if (free_by_cost) free_by_cost->remove(range);
  if (free.empty()) free_cost = 0;
}

void StageState::release(Range range) {
  if (enough) return;
  for (const Range gap : cover.gaps(range)) {
    for (const Range lacking : accepted.missing(gap)) {
      for (const Range part : set_aside.missing(lacking)) {
        add_free(part);
        returned.push_back(part);
      }
    }
  }
}

Held* StageState::find(UnitId id, HostId host) {
  return const_cast<Held*>(std::as_const(*this).find(id, host));  // NOLINT: the object itself is not const
}

const Held* StageState::find(UnitId id, HostId host) const {
  for (const auto* units : {&open, &closed}) {
    const auto found = units->find(id);
    if (found != units->end()) return found->second.unit.host == host ? &found->second : nullptr;
  }
  return nullptr;
}

double StageState::remaining_cost(const Unit& unit) const {
  return costs.of({std::max(unit.range.begin, unit.committed), unit.range.end});
}

// ---- Groups: which index a group is in follows from its members

void StageState::unindex_group(Group& group) {
  if (group.live) {
    live_groups.erase({group.key, group.id});
  } else {
    stalled_groups.erase({group.key, group.id});
    stalled_cost -= group.stalled_rest;
    if (stalled_groups.empty()) stalled_cost = 0;
  }
  group.stalled_rest = 0;
}

void StageState::index_group(Group& group) {
  unindex_group(group);
  if (group.members.empty()) {
    const UnitId id = group.id;
    copied_once.erase(id);
    groups.erase(id);
    return;
  }
  const auto end = first_end(group);
  group.live = end.has_value();
  if (end) {
    group.key = *end;
    live_groups.insert({group.key, group.id});
    return;
  }
  group.key = Timestamp::min();
  for (const Held* held : group.members) {
    group.key = std::max(group.key, held->stalled_since);
    group.stalled_rest = std::max(group.stalled_rest, remaining_cost(held->unit));
  }
  stalled_groups.insert({group.key, group.id});
  stalled_cost += group.stalled_rest;
}

// A live group's end is another one, and it stays live.
void StageState::group_moved(Group& group) {
  if (group.moved) return;
  group.moved = true;
  moved_groups.push_back(group.id);
  if (moved_groups.size() > 2 * live_groups.size() + 64)
    static_cast<void>(latest_live());  // many have ended since
}

const std::set<std::pair<Timestamp, UnitId>>& StageState::latest_live() {
  for (const UnitId id : moved_groups) {
    const auto found = groups.find(id);
    if (found == groups.end() || !found->second.moved) continue;
    Group& group = found->second;
    group.moved = false;
    const auto end = first_end(group);
    if (!group.live || !end || *end == group.key) continue;
    auto entry = live_groups.extract({group.key, id});
    entry.value().first = group.key = *end;
    live_groups.insert(std::move(entry));
  }
  moved_groups.clear();
  return live_groups;
}

// ---- Life

Held& StageState::open_unit(const Requester& requester, UnitKind kind, Range range, UnitId group,
                            std::string reason, Timestamp now, Changes& changes) {
  CHECK_TRUE(!range.empty() && range.begin >= 0 && range.end <= setup.items);
  CHECK_TRUE(requester.unit.valid() && !open.contains(requester.unit) && !closed.contains(requester.unit));
  Held held;
  Unit& unit = held.unit;
  unit.id = requester.unit;
  unit.group = group.valid() ? group : unit.id;
  unit.host = requester.host;
  unit.slot = requester.slot;
  unit.kind = kind;
  unit.range = range;
  unit.handed_end = range.end;
  unit.committed = unit.finished = range.begin;
  unit.issued = unit.last_contact = now;
  unit.reason = std::move(reason);
  if (go_on_from_saved(unit))
    unit.reason += because("; item {} goes on where host {} left it, {:.0f} % done", range.begin,
                           unit.begun_by.value, 100 * unit.begun_share);
  unit.reason.shrink_to_fit();  // a million of them may be open
  decide(changes, now, unit.host, unit.id, name_of(kind), range, unit.reason);
  changes.units.push_back(unit.id);
  changes.hosts.push_back(unit.host);
  ++units_made;
  Host& host = host_of(unit.host);
  ++host.record.units;
  if (kind == UnitKind::split) ++splits;
  if (kind == UnitKind::recover) ++recovered;
  if (is_copy(kind)) {
    ++copies;
    ++host.record.copies;
  }
  return insert_open(std::move(held), now);
}

Held& StageState::insert_open(Held made, Timestamp now) {
  const EndgameRules rules = pace();
  const UnitId id = made.unit.id;
  Held& held = open.emplace(id, std::move(made)).first->second;
  held.host = &host_of(held.unit.host);
  if (is_copy(held.unit.kind)) ++open_copies;
  vain = {};
  start_lease(held, now);
  if (held.unit.kind != UnitKind::check) {
    remove_free({held.unit.committed, held.unit.range.end});  // what it delivered may have been rejected
    cover.add(id, {held.unit.committed, held.unit.range.end});
    Group& group = groups[held.unit.group];
    if (!group.members.empty()) unindex_group(group);
    group.id = held.unit.group;
    // Until it is estimated below it is in neither index.
    group.live = false;
    group.members.push_back(&held);
    std::sort(group.members.begin(), group.members.end(),
              [](const Held* a, const Held* b) { return a->unit.id < b->unit.id; });
    held.group = &group;
    note_long(held, rules);
  }
  Slot& slot = slot_of({held.unit.host, held.unit.slot});
  held.slot = &slot;
  const bool first = slot.units.empty();
  slot.units.push_back(&held);
  held.clock_at = now;
  held.clock_runs = first;
  held.measured_seconds = held.clock_seconds = held.unit.running_seconds;
  held.measured_cost = costs.of({held.unit.range.begin, held.unit.finished});
  held.stall_at = Timestamp::min();
  contact(held, now, rules);
  estimate_slot(slot, now);
  return held;
}

void StageState::cut(UnitId id, std::int64_t end, const std::string& reason, Timestamp now,
                     Changes& changes) {
  Held& held = open.at(id);
  Unit& unit = held.unit;
  CHECK_TRUE(end < unit.range.end);
  end = std::max(end, unit.committed);
  const Range taken{end, unit.range.end};
  if (taken.empty()) return;
  cover.remove(id, taken);
  vain = {};
  unit.range.end = end;
  unit.cut_unheard = true;
  ++held.host->record.cuts;
  changes.units.push_back(id);
  decide(changes, now, unit.host, id, "cut", taken, reason);
  if (accepted.contains(Range{unit.committed, end})) {  // nothing of what it keeps is lacking
    close(id, UnitState::cancelled, reason, now, changes);
  } else {
    if (unit.finished >= end) held.finished_at = std::min(held.finished_at, now);
    estimate_slot(*held.slot, now);
  }
  release(taken);
}

void StageState::close(UnitId id, UnitState state, const std::string& reason, Timestamp now,
                       Changes& changes) {
  const auto node = open.find(id);
  CHECK_TRUE(node != open.end());
  Held& held = node->second;
  Unit& unit = held.unit;
  const EndgameRules rules = pace();
  const bool ended = state == UnitState::done && held.live();
  if (ended && held.clock_runs) held.clock_seconds += std::max(0.0, seconds_between(held.clock_at, now));
  if (ended) held.clock_at = now;
  measure(held, rules, ended, changes);
  unit.running_seconds = std::max(unit.running_seconds, held.clock_seconds);
  Host& host = *held.host;
  change_host(host, [&](Host& changed) {
    const double elapsed = seconds_between(unit.issued, now);
    changed.record.times.add_unit(held.measured_cost, held.measured_seconds, elapsed);
  });
  const Range rest{unit.committed, unit.range.end};
  const double lost =
      held.clock_seconds > 0 && state != UnitState::done
          ? costs.of({unit.committed, std::max(unit.committed, std::min(unit.finished, unit.range.end))})
          : 0;
  host.record.busy_seconds += held.clock_seconds;
  held.waste_charged = lost;
  host.record.cost_wasted += lost;
  wasted_cost += lost;
  by_silence.erase({held.watched_from, id});
  held.watched_from = Timestamp::max();
  silent_units.erase({unit.deadline, id});
  end_lease(held);
  vain = {};
  if (is_copy(unit.kind)) --open_copies;
  if (state == UnitState::done) ++units_done;
  const bool is_check = unit.kind == UnitKind::check;
  if (!is_check) {
    cover.remove(id, rest);
    Group& group = *held.group;
    unindex_group(group);
    std::erase(group.members, &held);
    group.live = false;
    group.key = Timestamp::min();
    index_group(group);
  }
  Slot& slot = *held.slot;
  const bool was_first = !slot.units.empty() && slot.units.front() == &held;
  std::erase(slot.units, &held);
  held.group = nullptr;
  unit.state = state;
  unit.closed = now;
  changes.units.push_back(id);
  changes.hosts.push_back(unit.host);
  if (state != UnitState::done) {
    unit.pause_reason = reason;
    decide(changes, now, unit.host, id, name_of(state), rest, reason);
  }
  closed.insert(open.extract(node));
  closed_order.push_back(id);
  if (was_first && !slot.units.empty()) {
    Held& next = *slot.units.front();
    next.clock_at = now;
    next.clock_runs = true;
  }
  update_slot(slot, now);
  if (!slot.units.empty()) estimate_slot(slot, now);
  if (is_check) {
    check_closed(id, state == UnitState::done, slot.key.first);
  } else {
    release(rest);
  }
  while (closed.size() > closed_units_max) {
    closed.erase(closed_order.front());
    closed_order.pop_front();
  }
}

// Somebody delivered `range`: units that only hold delivered items end, others end where the rest begins
// (R7).
void StageState::trim_others(UnitId by, HostId host, Range range, Timestamp now, Changes& changes) {
  for (const UnitId id : cover.over(range)) {
    if (id == by) continue;
    const auto found = open.find(id);
    if (found == open.end()) continue;
    const Unit& unit = found->second.unit;
    const std::vector<Range> lacking = accepted.missing({unit.committed, unit.range.end});
    if (lacking.empty()) {
      close(id, UnitState::cancelled, because("host {} delivered its items first", host.value), now, changes);
    } else if (setup.may_split && lacking.back().end < unit.range.end) {
      cut(id, lacking.back().end, because("host {} delivered what follows", host.value), now, changes);
    }
  }
}

}  // namespace gleaner::policy
