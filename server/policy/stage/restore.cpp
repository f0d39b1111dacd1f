// From what was stored to a stage that goes on; and what must hold of any stage at any time.
#include <algorithm>

#include "server/policy/stage/state.h"

namespace gleaner::policy {

void StageState::restore(const std::vector<Range>& accepted_in, const std::vector<Unit>& units,
                         const std::vector<HostRecord>& records, const std::vector<Range>& set_aside_in,
                         Timestamp now) {
  CHECK_TRUE(open.empty() && accepted.empty());
  for (const Range range : accepted_in) accepted.add(range);
  for (const Range range : accepted.ranges()) {
    remove_free(range);
    accepted_cost += costs.of(range);
  }
  for (const Range range : set_aside_in) {
    for (const Range part : accepted.missing(range)) {
      set_aside.add(part);
      remove_free(part);
    }
  }
  for (const HostRecord& record : records) {
    Host host;
    host.record = record;
    if (record.omitted) omission_done = true;
    if (record.memory.units > sizing_memory.units) sizing_memory = record.memory;
    wasted_cost += record.cost_wasted;
    copies += record.copies;
    units_made += record.units;
    givers += record.items_accepted > 0 ? 1 : 0;
    fleet.add(hosts.insert_or_assign(record.host, std::move(host)).first->second.record, 0);
  }
  std::vector<Unit> sorted = units;
  std::sort(sorted.begin(), sorted.end(), [](const Unit& a, const Unit& b) {
    return a.issued != b.issued ? a.issued < b.issued : a.id < b.id;
  });
  for (Unit& unit : sorted) {
    if (unit.kind == UnitKind::split) ++splits;
    if (unit.kind == UnitKind::recover) ++recovered;
    if (unit.kind == UnitKind::copy || unit.kind == UnitKind::flood) copied_cost += remaining_cost(unit);
    Held held;
    held.unit = std::move(unit);
    held.returned = held.unit.committed > held.unit.range.begin;
    if (held.unit.handed_end == 0) held.unit.handed_end = held.unit.range.end;
    if (held.unit.state != UnitState::open) {
      closed_order.push_back(held.unit.id);
      closed.emplace(held.unit.id, std::move(held));
      continue;
    }
    // A pause ends with the next report at the latest; until then the unit counts as running.
    held.unit.run_state = protocol::RunState::running;
    if (held.unit.kind == UnitKind::check) {
      checks.push_back({held.unit.range, {held.unit.host}, held.unit.id});
      for (const Range part : accepted.within(held.unit.range)) disputed.add(part);
    }
    insert_open(std::move(held), now);
  }
  // The rules before the restart may have allowed more.
  for (const auto& [id, group] : groups)
    holders_limit = std::max(holders_limit, static_cast<int>(group.members.size()));
}

// What must hold of an open unit.
void StageState::check_unit(const Held& held) const {
  const Unit& unit = held.unit;
  CHECK_TRUE(unit.state == UnitState::open && unit.host.valid());
  CHECK_TRUE(unit.range.begin <= unit.committed && unit.committed < unit.range.end);
  CHECK_TRUE(unit.range.begin >= 0 && unit.range.end <= setup.items && unit.handed_end >= unit.range.end);
  CHECK_TRUE(unit.finished >= unit.committed);
  CHECK_TRUE(std::count(held.slot->units.begin(), held.slot->units.end(), &held) == 1);
  if (unit.kind == UnitKind::check) return;
  const Range rest{unit.committed, unit.range.end};
  CHECK_TRUE(cover.gaps(rest).empty() && !free.overlaps(rest) && !accepted.contains(rest));
  const auto over = cover.over(rest);
  CHECK_TRUE(std::find(over.begin(), over.end(), unit.id) != over.end());
  const Group& group = *held.group;
  CHECK_TRUE(group.id == unit.group && static_cast<int>(group.members.size()) <= holders_limit);
  CHECK_TRUE(std::count(group.members.begin(), group.members.end(), &held) == 1);
  CHECK_TRUE(std::count_if(group.members.begin(), group.members.end(), [&](const Held* other) {
               return other->unit.host == unit.host;
             }) == 1);  // never a copy on the same host
  CHECK_TRUE(!held.live() || group.live);
}

void StageState::check_changed(const Changes& changes) const {
  const std::int64_t ended = accepted.total() + set_aside.total() + dropped.total();
  const std::int64_t not_held = free.total() + ended;
  CHECK_TRUE(not_held <= setup.items && (!open.empty() || not_held == setup.items));
  CHECK_TRUE(live_groups.size() + stalled_groups.size() == groups.size() && groups.size() <= open.size());
  for (const UnitId id : changes.units) {
    if (const auto found = open.find(id); found != open.end()) check_unit(found->second);
  }
}

void StageState::check_invariants() const {
  // free + held + accepted + set aside + not needed any more = all, and the first does not touch the others.
  RangeSet all = accepted;
  for (const Range range : disputed.ranges()) CHECK_TRUE(accepted.contains(range));
  const RangeSet held = cover.held();
  for (const Range range : free.ranges()) {
    CHECK_TRUE(!accepted.overlaps(range) && !held.overlaps(range) && !set_aside.overlaps(range));
    all.add(range);
  }
  for (const Range range : set_aside.ranges()) {
    CHECK_TRUE(!accepted.overlaps(range));
    all.add(range);
  }
  for (const Range range : held.ranges()) all.add(range);
  for (const Range range : dropped.ranges()) all.add(range);
  CHECK_TRUE(all.total() == setup.items && all.count() == 1 && all.front() == (Range{0, setup.items}));

  std::size_t covering = 0, silent = 0, in_slots = 0, idle = 0;
  std::map<UnitId, std::size_t> members;
  for (const auto& [id, unit_held] : open) {
    const Unit& unit = unit_held.unit;
    CHECK_TRUE(unit.id == id);
    check_unit(unit_held);
    if (unit_held.silent) ++silent;
    CHECK_TRUE(unit_held.slot == &slots.at({unit.host, unit.slot}) && unit_held.host == &hosts.at(unit.host));
    if (unit.kind == UnitKind::check) continue;
    ++covering;
    ++members[unit.group];
  }
  CHECK_TRUE(silent == silent_units.size() && by_silence.size() == open.size() - silent);
  CHECK_TRUE(members.size() == groups.size() && live_groups.size() + stalled_groups.size() == groups.size());
  std::size_t largest = 0;
  for (const auto& [id, group] : groups) {
    CHECK_TRUE(group.members.size() == members.at(id));
    CHECK_TRUE((group.live ? live_groups : stalled_groups).contains({group.key, id}));
    std::set<HostId> different;
    bool live = false;
    for (const Held* member : group.members) {
      CHECK_TRUE(member->group == &group && &open.at(member->unit.id) == member);
      different.insert(member->unit.host);
      live = live || member->live();
    }
    CHECK_TRUE(live == group.live);
    CHECK_TRUE(different.size() == group.members.size());  // never a copy on the same host
    CHECK_TRUE(static_cast<int>(group.members.size()) <= holders_limit);
    largest = std::max(largest, group.members.size());
  }
  CHECK_TRUE(cover.most_holders() <= largest && largest <= covering);  // items are held twice only by copies
  for (const auto& [key, slot] : slots) {
    in_slots += slot.units.size();
    idle += slot.idle ? 1 : 0;
  }
  for (const auto& [draw, key] : idle_by_draw) CHECK_TRUE(slots.at(key).idle && slots.at(key).draw == draw);
  CHECK_TRUE(in_slots == open.size() && static_cast<std::int64_t>(idle) == idle_slots);
  std::int64_t on = 0;
  for (const auto& [id, host] : hosts) on += host.slots_on;
  if (free_by_cost) CHECK_TRUE(free_by_cost->agrees_with(free));
  CHECK_TRUE(on == fleet.slots_on() && accepted.total() <= setup.items);
}

}  // namespace gleaner::policy
