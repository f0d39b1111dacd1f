// From what was stored to a stage that goes on; and what must hold of any stage at any time.
#include <algorithm>

#include "server/policy/stage/state.h"

namespace gleaner::policy {

void StageState::restore(const RestoreEvent& stored, Timestamp now) {
  CHECK_TRUE(units.open().empty() && ledger.accepted().empty());
  for (const Range range : stored.accepted) ledger.accept(range);
  for (const Range range : stored.set_aside) ledger.put_aside(range);
  for (const Range range : stored.undecided) ledger.gave_up(range);
  for (const HostRecord& record : stored.hosts) {
    if (record.omitted) omission_done = true;
    if (record.memory.units > sizing_memory.units) sizing_memory = record.memory;
    totals.wasted_cost += record.cost_wasted;
    totals.copies += record.copies;
    totals.units += record.units;
    totals.contributors += record.items_accepted > 0 ? 1 : 0;
    clock.restore(record);
  }
  std::vector<const Unit*> sorted;
  sorted.reserve(stored.units.size());
  for (const Unit& unit : stored.units) sorted.push_back(&unit);
  std::sort(sorted.begin(), sorted.end(), [](const Unit* a, const Unit* b) {
    return a->issued != b->issued ? a->issued < b->issued : a->id < b->id;
  });
  for (const Unit* each : sorted) {
    const Unit& unit = *each;
    if (unit.kind == UnitKind::split) ++totals.splits;
    if (unit.kind == UnitKind::recover) ++totals.recovered;
    if (is_copy(unit.kind))
      totals.copied_cost += ledger.costs().of({std::max(unit.range.begin, unit.committed), unit.range.end});
    Held held;
    held.unit = unit;
    held.returned = held.unit.committed > held.unit.range.begin;
    if (held.unit.handed_end == 0) held.unit.handed_end = held.unit.range.end;
    if (held.unit.state != UnitState::open) {
      units.remember(std::move(held));
      continue;
    }
    // A pause ends with the next report at the latest; until then the unit counts as running.
    held.unit.run_state = protocol::RunState::running;
    if (held.unit.kind == UnitKind::check) {
      // What it has delivered was decided, or is compared anew by the caller, who disputes it if need be.
      checks.push_back({held.rest(), {held.unit.host}, {}, held.unit.id});
      for (const Range part : ledger.accepted().within(held.rest())) ledger.dispute(part);
    }
    insert_open(std::move(held), now);
  }
  // The rules before the restart may have allowed more.
  for (const auto& [id, group] : units.groups())
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
  const Range rest = held.rest();
  CHECK_TRUE(ledger.cover().gaps(rest).empty() && !ledger.free().overlaps(rest) &&
             !ledger.accepted().contains(rest));
  const auto over = ledger.cover().over(rest);
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
  ledger.check_sums(units.open().empty());
  CHECK_TRUE(forecast.groups() == units.groups().size() && units.groups().size() <= units.open().size());
  for (const UnitId id : changes.units) {
    if (const auto found = units.open().find(id); found != units.open().end()) check_unit(found->second);
  }
}

void StageState::check_invariants() const {
  ledger.check();
  clock.check(units.open().size());
  std::size_t covering = 0, in_slots = 0;
  std::map<UnitId, std::size_t> members;
  for (const auto& [id, held] : units.open()) {
    const Unit& unit = held.unit;
    CHECK_TRUE(unit.id == id);
    check_unit(held);
    CHECK_TRUE(held.slot == clock.find({unit.host, unit.slot}) && held.host == clock.find(unit.host));
    if (unit.kind == UnitKind::check) continue;
    ++covering;
    ++members[unit.group];
  }
  CHECK_TRUE(members.size() == units.groups().size() && forecast.groups() == units.groups().size());
  std::size_t largest = 0;
  for (const auto& [id, group] : units.groups()) {
    CHECK_TRUE(group.members.size() == members.at(id));
    if (group.listed || !group.live)
      CHECK_TRUE((group.live ? forecast.live() : forecast.stalled()).contains({group.key, id}));
    CHECK_TRUE(group.listed || group.moved.is_linked() || !group.live);
    std::set<HostId> different;
    bool live = false;
    for (const Held* member : group.members) {
      CHECK_TRUE(member->group == &group && &units.at(member->unit.id) == member);
      different.insert(member->unit.host);
      live = live || member->live();
    }
    CHECK_TRUE(live == group.live);
    CHECK_TRUE(different.size() == group.members.size());  // never a copy on the same host
    CHECK_TRUE(static_cast<int>(group.members.size()) <= holders_limit);
    largest = std::max(largest, group.members.size());
  }
  // Items are held twice only by copies.
  CHECK_TRUE(ledger.cover().most_holders() <= largest && largest <= covering);
  std::size_t of_hosts = 0;
  for (const auto& [id, host] : clock.hosts()) {
    of_hosts += host.units_open;
    for (const auto& slot : host.slots) in_slots += slot->units.size();
  }
  CHECK_TRUE(in_slots == units.open().size());
  CHECK_TRUE(of_hosts == in_slots);
}

}  // namespace gleaner::policy
