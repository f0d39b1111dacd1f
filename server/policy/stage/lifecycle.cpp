// A unit's life: opened, cut, closed; and the one rule behind "handed out + free + accepted = N": whenever a
// unit lets go of items, those that no other open unit holds and nobody delivered are free again.
#include <algorithm>

#include "server/policy/stage/straggler.h"

namespace gleaner::policy {
namespace {

// Comparison rules: leases are no shorter than so many shortest units.
constexpr double lease_units_min = 10;

}  // namespace

Held& StageState::open_unit(const Requester& requester, UnitKind kind, Range range, UnitId group,
                            std::string reason, Timestamp now, Changes& changes) {
  CHECK_TRUE(!range.empty() && range.begin >= 0 && range.end <= setup.items);
  CHECK_TRUE(requester.unit.valid() && !units.known(requester.unit));
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
  // Who gives another opinion begins anew.
  if (kind != UnitKind::check && items.go_on(unit))
    unit.reason += because("; item {} continues where host {} left it, {:.0f} % done", range.begin,
                           unit.begun_by.value, 100 * unit.begun_share);
  unit.reason.shrink_to_fit();  // a million of them may be open
  decide(changes, now, unit.host, unit.id, name_of(kind), range, unit.reason);
  changes.units.push_back(unit.id);
  changes.hosts.push_back(unit.host);
  ++totals.units;
  Host& host = clock.host(unit.host);
  ++host.record.units;
  if (kind == UnitKind::split) ++totals.splits;
  if (kind == UnitKind::recover) ++totals.recovered;
  if (is_copy(kind)) {
    ++totals.copies;
    ++host.record.copies;
  }
  return insert_open(std::move(held), now);
}

Held& StageState::insert_open(Held made, Timestamp now) {
  const EndgameRules rules = pace();
  Held& held = units.open(std::move(made));
  Slot& slot = clock.slot({held.unit.host, held.unit.slot});
  held.slot = &slot;
  held.host = slot.host;
  if (is_copy(held.unit.kind)) ++totals.open_copies;
  failed = {};
  const double rate = clock.fleet().rate(held.host->record);
  const double factor = rules.lease_factor > 0 ? rules.lease_factor : rule->lease_factor;
  if (factor > 0 && held.unit.kind != UnitKind::check) {
    const double estimate = rate > 0 ? ledger.costs().of(held.rest()) / rate : 0;
    held.lease_end = later(now, std::max(lease_units_min * rules.unit_minimum, factor * estimate));
    copies.by_lease.insert({held.lease_end, held.unit.id});
  }
  if (held.unit.kind != UnitKind::check) {
    ledger.hold(held.unit.id, held.rest());
    if (Group& group = units.join(held); group.members.size() > 1) forecast.unindex(group);
    items.handed_out(held.rest(), rate, rules);
  }
  held.watch.runs = slot.units.empty();
  slot.units.push_back(&held);
  ++held.host->units_open;
  held.meter.at = held.watch.delivered_at = now;
  held.meter.measured_seconds = held.meter.seconds = held.unit.running_seconds;
  held.meter.measured_cost = ledger.costs().of({held.unit.range.begin, held.unit.finished});
  heard(held, now, rules);
  forecast.estimate(slot, clock.fleet(), now);
  return held;
}

void StageState::cut(Held& held, std::int64_t end, const std::string& reason, Timestamp now,
                     Changes& changes) {
  Unit& unit = held.unit;
  end = std::max(end, unit.committed);
  // Nor what lies before that and others have delivered: the last item of an open unit is lacking, so that
  // its tail is worth taking.
  if (const auto lacking = ledger.accepted().missing({unit.committed, end});
      setup.may_split && !lacking.empty())
    end = lacking.back().end;
  const Range taken{end, unit.range.end};
  if (taken.empty()) return;
  ledger.let_go(unit.id, taken);
  failed = {};
  unit.range.end = end;
  if (held.told_end != Timestamp::min())
    held.told_end = std::max(now, later(held.told_end, -ledger.costs().of(taken) / held.estimate.rate));
  unit.cut_unheard = true;
  ++held.host->record.cuts;
  changes.units.push_back(unit.id);
  decide(changes, now, unit.host, unit.id, "cut", taken, reason);
  if (ledger.accepted().contains(held.rest())) {  // nothing of what it keeps is lacking
    close(unit.id, UnitState::cancelled, reason, now, changes);
  } else {
    if (unit.finished >= end) held.watch.finished_at = std::min(held.watch.finished_at, now);
    forecast.estimate(*held.slot, clock.fleet(), now);
  }
  ledger.release(taken);
}

void StageState::cut_group(UnitId id, std::int64_t end, UnitId except, const std::string& reason,
                           Timestamp now, Changes& changes) {
  const Group* group = units.group(id);
  if (group == nullptr) return;
  const auto members = group->members;
  for (Held* member : members) {
    if (member->unit.id != except && member->unit.range.end > end) cut(*member, end, reason, now, changes);
  }
}

// The on-time of a unit that ends now; a failure was computing until it was reported.
double StageState::spent_on(const Held& held, bool failed, Timestamp now) {
  const Meter& meter = held.meter;
  const double unheard = failed && held.watch.runs ? seconds_between(meter.at, now) : 0;
  return meter.seconds + std::max(0.0, unheard);
}

// What was computed of the item in progress and nobody goes on from: by what its holder told or by its time,
// and the whole of it at most, as nothing says how much longer it would have taken.
double StageState::lost_of_item(const Held& held, std::int64_t item, double spent, UnitState state) const {
  if (item >= held.unit.range.end || spent <= 0) return 0;
  const double hint = ledger.costs().of({item, item + 1});
  const double rate = clock.fleet().rate(held.host->record);
  // Nobody has computed anything yet: an attempt that failed counts as one at the whole item.
  const double unknown = state == UnitState::failed ? hint : 0;
  const double by_time = rate > 0 ? rate * std::max(0.0, spent - held.meter.measured_seconds) : unknown;
  const double begun = std::clamp(std::max(hint * held.estimate.item_share, by_time), 0.0, hint);
  return std::max(0.0, begun - hint * items.saved_share(item));
}

void StageState::close(UnitId id, UnitState state, const std::string& reason, Timestamp now,
                       Changes& changes) {
  Held& held = units.at(id);
  Unit& unit = held.unit;
  Meter& meter = held.meter;
  const EndgameRules rules = pace();
  const Costs& costs = ledger.costs();
  const bool ended = state == UnitState::done && held.live();
  if (ended && held.watch.runs) meter.seconds += std::max(0.0, seconds_between(meter.at, now));
  if (ended) meter.at = now;
  if (!held.host->relay) measure(held, rules, ended, changes);  // it says how fast its hosts are
  unit.running_seconds = std::max(unit.running_seconds, meter.seconds);
  clock.change(*held.host, [&](Host& changed) {
    changed.record.times.add_unit(meter.measured_cost, meter.measured_seconds,
                                  seconds_between(unit.issued, now));
  });
  const Range rest = held.rest();
  const std::int64_t told = std::max(unit.finished, held.computed);
  const std::int64_t reached = std::max(unit.committed, std::min(told, unit.range.end));
  const double spent = spent_on(held, state == UnitState::failed, now);
  const double lost = state == UnitState::done
                          ? 0
                          : costs.of({unit.committed, reached}) + lost_of_item(held, reached, spent, state);
  held.host->record.busy_seconds += held.live() ? spent : meter.seconds;  // it may have slept
  held.waste_charged = lost;
  held.host->record.cost_wasted += lost;
  totals.wasted_cost += lost;
  clock.forget(held);
  if (!copies.by_lease.empty()) copies.by_lease.erase({held.lease_end, id});
  failed = {};
  if (is_copy(unit.kind)) --totals.open_copies;
  if (state == UnitState::done) ++totals.units_done;
  const bool is_check = unit.kind == UnitKind::check;
  if (!is_check) {
    ledger.let_go(id, rest);
    Group& group = *held.group;
    forecast.unindex(group);
    Units::leave(held);
    if (group.members.empty()) {
      copies.once.erase(group.id);
      units.forget(group.id);
    } else {
      forecast.index(group);
    }
  }
  Slot& slot = *held.slot;
  const bool was_first = !slot.units.empty() && slot.units.front() == &held;
  slot.units.erase(std::find(slot.units.begin(), slot.units.end(), &held));
  --held.host->units_open;
  unit.state = state;
  unit.closed = now;
  changes.units.push_back(id);
  changes.hosts.push_back(unit.host);
  if (state != UnitState::done) {
    unit.pause_reason = reason;
    decide(changes, now, unit.host, id, name_of(state), rest, reason);
  }
  units.close(held);
  if (was_first && !slot.units.empty()) {
    Held& next = *slot.units.front();
    next.meter.at = now;
    next.watch.runs = true;
  }
  clock.update(slot, now);
  if (!slot.units.empty()) forecast.estimate(slot, clock.fleet(), now);
  if (is_check) {
    check_closed(id, state == UnitState::done, slot.key().first);
  } else {
    ledger.release(rest);
  }
}

void StageState::trim_others(UnitId by, HostId host, Range range, Timestamp now, Changes& changes) {
  for (const UnitId id : ledger.cover().over(range)) {
    if (id == by) continue;
    Held* held = units.find_open(id);
    if (held == nullptr) continue;
    const std::vector<Range> lacking = ledger.accepted().missing(held->rest());
    if (lacking.empty()) {
      close(id, UnitState::cancelled, because("host {} delivered its items first", host.value), now, changes);
    } else if (setup.may_split && lacking.back().end < held->unit.range.end) {
      cut(*held, lacking.back().end, because("host {} delivered what follows", host.value), now, changes);
    }
  }
}

}  // namespace gleaner::policy
