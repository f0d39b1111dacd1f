// What hosts say: progress, finished prefixes, failures; and what time brings: silence, leases that run out,
// omission.
#include <fmt/format.h>

#include <algorithm>

#include "server/policy/stage/straggler.h"

namespace gleaner::policy {
namespace {

// The papers': when so much is completed, workers that have returned nothing are left out.
constexpr double omission_share = 0.7;
// A lease that ran out halves the worker's rate.
constexpr double expiry_rate_factor = 0.5;

// The answer to a report of a unit that is not open, or not known.
protocol::UnitOrder no_more(const protocol::UnitReport& report, const KnownUnit* closed) {
  using protocol::UnitAction;
  if (closed == nullptr)
    return {report.unit, UnitAction::cancel, report.finished, "this stage has no such unit of this host"};
  const Unit& unit = closed->unit;
  return {unit.id, UnitAction::cancel, unit.range.end,
          unit.pause_reason.empty() ? "it is finished" : unit.pause_reason};
}

}  // namespace

void StageState::refresh(Timestamp now, Changes& changes) {
  if (now == refreshed_at_) return;  // a message brings many events; none of them is late at once
  refreshed_at_ = now;
  while (Held* held = clock.next_silent(now)) {
    if (!held->watch.stuck) stall(*held, held->unit.last_contact);
    if (!ledger.free().empty()) continue;  // far from the end a silent holder just resumes
    decide(changes, now, held->unit.host, held->unit.id, "stall", held->unit.range,
           "it did not report in time");
  }
  clock.slots_off(now);
}

void StageState::stall(Held& held, Timestamp since) {
  held.watch.stalled_since = since;
  failed = {};
  if (held.group != nullptr) forecast.index(*held.group);
  clock.update(*held.slot, since);
}

void StageState::heard(Held& held, Timestamp now, const EndgameRules& rules) {
  if (clock.heard(held, now, heartbeat(rules), rules) && held.group != nullptr) forecast.index(*held.group);
}

void StageState::measure(Held& held, const EndgameRules& rules, bool ended, Changes& changes) {
  const Unit& unit = held.unit;
  const std::int64_t told = held.host->stranger ? unit.committed : unit.finished;
  const std::int64_t position = std::clamp(told, unit.range.begin, std::max(unit.range.end, unit.committed));
  const double cost = ledger.costs().of({unit.range.begin, std::min(position, ledger.items())});
  if (clock.measure(held, cost, ended, rules)) changes.hosts.push_back(unit.host);
}

bool StageState::withholds(Held& held, const EndgameRules& rules, Timestamp now) const {
  Watch& watch = held.watch;
  const Unit& unit = held.unit;
  if (unit.finished <= unit.committed) {
    watch.undelivered_since = Timestamp::max();
  } else if (watch.undelivered_since == Timestamp::max()) {
    watch.undelivered_since = now;
  }
  const double patience = numbers::withheld * setup.commit_seconds + rules.silence(rules.heartbeat);
  if (watch.undelivered_since != Timestamp::max() && now >= later(watch.undelivered_since, patience))
    return true;
  // A stranger's word for how far it is with its first item is worth nothing either.
  const double rate = clock.fleet().rate(held.host->record);
  if (!held.host->stranger || rate <= 0 || unit.committed >= unit.range.end) return false;
  const double item = ledger.costs().of({unit.committed, unit.committed + 1}) / rate;
  return held.meter.seen_seconds - held.meter.delivered_seconds > patience + numbers::overdue * item;
}

bool StageState::save(const SaveEvent& event) {
  const auto& [host, id, item, share] = event;
  const KnownUnit* known = find(id, host);
  if (known == nullptr || known->unit.kind == UnitKind::check) return false;
  const Unit& unit = known->unit;
  if (item < unit.committed || item >= unit.range.end || ledger.accepted().contains(item)) return false;
  // The result of an item that one host began and another one ended is no second opinion beside the first
  // one's own: whoever began it stands for it.
  const bool went_on = item == unit.range.begin && unit.begun_by.valid();
  return items.save(item, share, went_on ? unit.begun_by : host);
}

protocol::UnitOrder StageState::report(HostId host, const protocol::UnitReport& report, Timestamp now,
                                       Changes& changes) {
  refresh(now, changes);
  Held* held = find_open(report.unit, host);
  if (held == nullptr) return no_more(report, find(report.unit, host));
  Unit& unit = held->unit;
  const EndgameRules rules = pace();
  heard(*held, now, rules);
  const std::int64_t finished =
      std::clamp(report.finished, unit.finished, std::max(unit.finished, unit.range.end));
  const bool material = finished != unit.finished || report.state != unit.run_state || unit.cut_unheard;
  if (material) changes.units.push_back(unit.id);
  Meter& meter = held->meter;
  Watch& watch = held->watch;
  if (unit.run_state == protocol::RunState::paused)
    meter.paused_seconds += std::max(0.0, report.running_seconds - meter.seconds);
  ItemCosts::finish_up_to(*held, finished);
  if (finished >= unit.range.end && watch.finished_at == Timestamp::max()) watch.finished_at = now;
  unit.run_state = report.state;
  unit.pause_reason = report.state == protocol::RunState::paused ? report.reason : std::string();
  unit.rate_minute = std::max(0.0, report.rate);
  unit.item_seconds = std::max(0.0, report.item_seconds);
  held->estimate.item_share = std::clamp(report.item_share, 0.0, 1.0);
  unit.running_seconds = std::max(unit.running_seconds, report.running_seconds);
  unit.cut_unheard = false;
  meter.seconds = std::max(meter.seconds, report.running_seconds);
  const double rate = clock.fleet().rate(held->host->record);
  // Accepted from another host: this one has not heard of it.
  if (unit.finished < unit.range.end && !ledger.accepted().contains(unit.finished))
    items.learn(*held, rate, rules);
  meter.at = now;
  watch.runs = report.state == protocol::RunState::running;
  measure(*held, rules, false, changes);
  const bool undelivered =
      watch.finished_at != Timestamp::max() && !HostClock::only_delivery_missing(*held, now, pace());
  watch.withholds = withholds(*held, rules, now);
  const bool pausing = report.state == protocol::RunState::paused ||
                       items.standing_still(*held, clock.fleet().rate(held->host->record), rules);
  const bool stuck = undelivered || pausing || watch.withholds;
  if (stuck && !watch.stuck) {
    watch.stuck = true;
    stall(*held, now);
  } else if (!stuck && watch.stuck) {
    watch.stuck = false;
    if (held->group != nullptr) forecast.index(*held->group);
  }
  clock.update(*held->slot, now);
  forecast.estimate(*held->slot, clock.fleet(), now);
  return {unit.id, protocol::UnitAction::go_on, unit.range.end, {}};
}

CommitOutcome StageState::judge(const KnownUnit* known, UnitId id, Range range) const {
  CommitOutcome outcome;
  if (known == nullptr) {
    outcome.known_unit = false;
    outcome.refusal = fmt::format("unit {} is not one that this stage gave to this host", id.value);
    return outcome;
  }
  const Unit& unit = known->unit;
  const std::int64_t end = std::max(unit.handed_end, unit.range.end);
  if (range.empty() || range.begin < unit.range.begin || range.end > end) {
    outcome.refusal = fmt::format("items [{}, {}) are outside of unit {}, which is [{}, {})", range.begin,
                                  range.end, id.value, unit.range.begin, end);
    return outcome;
  }
  const bool gap = range.begin > unit.committed && !clock.find(unit.host)->relay;
  if (gap && unit.kind == UnitKind::check) {
    outcome.refusal = fmt::format("items before {} are missing: the next commit of unit {} starts at {}",
                                  range.begin, id.value, unit.committed);
    return outcome;
  }
  if (ledger.ended()) {
    outcome.refusal = "the problem needs no more results of this stage";
    return outcome;
  }
  outcome.accepted = ledger.wanted(range);
  // A host must not choose which items it gives a second opinion on.
  if (!gap) outcome.overlapping = ledger.accepted().within(range);
  return outcome;
}

void StageState::pass_over(KnownUnit& known, bool open, std::int64_t to, Timestamp now, Changes& changes) {
  Unit& unit = known.unit;
  const Range lost{unit.committed, std::min(to, unit.range.end)};
  if (lost.empty()) return;
  unit.committed = lost.end;
  decide(changes, now, unit.host, unit.id, "pass-over", lost,
         "its host has delivered them, and they are not here");
  if (!open) return;
  ledger.let_go(unit.id, lost);
  ledger.release(lost);
}

CommitOutcome StageState::commit(const CommitEvent& event, Timestamp now, Changes& changes) {
  const auto& [host_id, id, range, last] = event;
  refresh(now, changes);
  Held* open = find_open(id, host_id);
  CommitOutcome outcome = judge(open != nullptr ? open : find(id, host_id), id, range);
  if (!outcome.refusal.empty()) return outcome;
  KnownUnit& known = open != nullptr ? *open : *units.find(id);
  Unit& unit = known.unit;
  Host& host = open != nullptr ? *open->host : clock.host(host_id);
  HostRecord& record = host.record;
  if (open != nullptr) heard(*open, now, pace());
  if (!host.relay) pass_over(known, open != nullptr, range.begin, now, changes);

  const Costs& costs = ledger.costs();
  const Range fresh{std::max(range.begin, unit.committed), std::max(unit.committed, range.end)};
  for (const Range part : outcome.accepted) {
    ledger.accept(part);
    items.forget(part);
    if (record.items_accepted == 0 && part.size() > 0) ++totals.contributors;
    clock.delivered(host, part.size(), costs.of(part));
  }
  // What was assumed lost has come after all; what came twice is waste, unless a second opinion was asked
  // for.
  const double back = std::min(known.waste_charged, costs.of(fresh));
  known.waste_charged -= back;
  double wasted = -back;
  if (unit.kind != UnitKind::check) {
    for (const Range part : outcome.overlapping) wasted += costs.of(intersection(part, fresh));
  }
  record.cost_wasted += wasted;
  totals.wasted_cost += wasted;

  const std::int64_t committed =
      host.relay ? first_lacking(unit, unit.committed) : std::max(unit.committed, range.end);
  if (open != nullptr && unit.kind != UnitKind::check) {
    ledger.let_go(id, {unit.committed, std::min(committed, unit.range.end)});
  }
  if (open != nullptr && range.end > unit.committed) {
    open->watch.undelivered_since = Timestamp::max();
    open->meter.delivered_seconds = open->meter.seen_seconds;
  }
  if (open != nullptr && !outcome.accepted.empty()) open->watch.delivered_at = now;
  if (!outcome.accepted.empty()) host.taken = 0;
  unit.committed = committed;
  if (open != nullptr) {
    ItemCosts::finish_up_to(*open, unit.committed);
  } else {
    unit.finished = std::max(unit.finished, unit.committed);
  }
  if (!known.returned) {
    known.returned = true;
    clock.change(host, [](Host& changed) { ++changed.record.returned; });
  }
  changes.units.push_back(id);
  changes.hosts.push_back(host_id);
  for (const Range part : outcome.accepted) trim_others(id, host_id, part, now, changes);
  const bool accepted_all = unit.kind != UnitKind::check && ledger.accepted().contains(known.rest());
  if (open != nullptr) {
    if (unit.committed >= unit.range.end || accepted_all) {
      close(id, UnitState::done, {}, now, changes);
    } else if (last) {
      close(id, UnitState::cancelled, "the host ended it early", now, changes);
    } else {
      if (!host.relay) measure(*open, pace(), false, changes);
      forecast.estimate(*open->slot, clock.fleet(), now);
    }
  }
  omit(now, changes);
  return outcome;
}

void StageState::note_failure(HostId host, std::int64_t item, GiveBack why, const std::string& reason,
                              Timestamp now, Changes& changes) {
  if (ledger.accepted().contains(item) || ledger.set_aside().contains(item)) return;
  const Range range{item, item + 1};
  items.forget_saved(range);  // it may be why
  if (why != GiveBack::set_aside) return ledger.fail(item, host);
  decide(changes, now, host, {}, "set-aside", range, reason);
  // Set aside before the units that hold it are cut, so that nobody gets it back as free.
  ledger.put_aside(range);
}

void StageState::omit(Timestamp now, Changes& changes) {
  if (!rule->omits || omission_done) return;
  if (static_cast<double>(ledger.accepted().total()) < omission_share * static_cast<double>(setup.items))
    return;
  omission_done = true;
  std::vector<std::pair<HostId, UnitId>> given_up;
  for (const auto& [id, known] : clock.hosts()) {
    if (known.record.returned > 0 || known.record.requests == 0) continue;
    clock.change(clock.host(id), [](Host& changed) { changed.record.omitted = true; });
    changes.hosts.push_back(id);
    decide(changes, now, id, {}, "omit", {}, "70 % are completed and it has returned nothing");
    for (const auto& [unit, held] : units.open()) {
      if (held.unit.host == id) given_up.emplace_back(id, unit);
    }
  }
  std::sort(given_up.begin(), given_up.end());
  for (const auto& [host, unit] : given_up) {
    if (units.open().contains(unit)) close(unit, UnitState::cancelled, "its host was left out", now, changes);
  }
}

void StageState::expire(Timestamp now, Changes& changes) {
  while (Held* held = clock.next_expired(now)) {
    const Unit& unit = held->unit;
    decide(changes, now, unit.host, unit.id, "expire", unit.range,
           because("it has not reported for {:.0f} s", seconds_between(unit.last_contact, now)));
    clock.change(*held->host, [](Host& host) { host.record.rate *= expiry_rate_factor; });
    close(unit.id, UnitState::expired, "its lease ran out", now, changes);
  }
}

}  // namespace gleaner::policy
