// Trees: units that relays hold, whose hosts are anywhere in them, and the stage of a relay, whose items its
// parent leases to it and takes away [server/policy/relay/RELAYS.md].
#include <algorithm>

#include "server/policy/stage/state.h"

namespace gleaner::policy {

std::int64_t StageState::first_lacking(const Unit& unit, std::int64_t from) const {
  const Range delivered = ledger.accepted().from(from);
  return delivered.empty() ? from : std::min(delivered.end, std::max(from, unit.range.end));
}

void StageState::take_offer(Host& relay, const RelayOffer& offer) {
  relay.lanes = std::max(1, offer.slots);
  const double promised = clock.fleet().promised_rate(relay.record);
  const double most = promised > 0 ? numbers::believable * promised : offer.rate;
  clock.change(relay, [&](Host& changed) { changed.record.rate = std::clamp(offer.rate, 0.0, most); });
}

bool StageState::withholds_lease(const Held& held, const EndgameRules& rules, Timestamp now) const {
  const Host& relay = *held.host;
  const double rate = clock.fleet().rate(relay.record);
  if (rate <= 0) return false;  // nobody has delivered anything yet
  // Its hosts compute its leases one after the other, and an item as fast as one of them can.
  double all = 0;
  for (const Held* each : held.slot->units) all += ledger.costs().of(each->rest());
  const std::int64_t first = held.unit.committed;
  const double item = ledger.costs().of({first, first + 1});
  const double expected = std::max(all / rate, item / shared_rate(rate, 1, relay.lanes));
  const double patience = numbers::withheld * setup.commit_seconds + rules.silence(rules.heartbeat);
  return now > later(held.watch.delivered_at, patience + numbers::overdue * expected);
}

protocol::UnitOrder StageState::report(HostId host, const RelayReport& report, Timestamp now,
                                       Changes& changes) {
  using protocol::RunState;
  using protocol::UnitAction;
  refresh(now, changes);
  Held* held = find_open(report.unit, host);
  if (held == nullptr) {
    const KnownUnit* known = find(report.unit, host);
    return {report.unit, UnitAction::cancel, known == nullptr ? 0 : known->unit.range.end,
            known == nullptr ? "this stage has no such unit of this host" : "it is over"};
  }
  held->host->relay = true;
  Unit& unit = held->unit;
  heard(*held, now, pace());
  const RunState state = report.rate > 0 ? RunState::running : RunState::paused;
  if (state != unit.run_state || unit.cut_unheard) changes.units.push_back(unit.id);
  unit.run_state = state;
  unit.pause_reason = state == RunState::paused ? "none of its hosts is on" : "";
  unit.cut_unheard = false;
  held->begun = std::clamp(report.begun, std::max(held->begun, unit.range.begin),
                           std::max(held->begun, unit.range.end));
  held->told_end = later(now, std::max(0.0, report.seconds_left));
  take_offer(*held->host, {report.rate, report.slots});
  held->watch.withholds = withholds_lease(*held, pace(), now);
  const bool stuck = report.rate <= 0 || held->watch.withholds;
  if (stuck && !held->watch.stuck) {
    held->watch.stuck = true;
    stall(*held, now);
  } else if (!stuck && held->watch.stuck) {
    held->watch.stuck = false;
    if (held->group != nullptr) forecast.index(*held->group);
  }
  clock.update(*held->slot, now);
  forecast.estimate(*held->slot, clock.fleet(), now);
  return {unit.id, UnitAction::go_on, unit.range.end, {}};
}

void StageState::take_away(Range range, const std::string& reason, Timestamp now, Changes& changes) {
  for (const UnitId id : ledger.cover().over(range)) {
    Held* held = units.find_open(id);
    if (held == nullptr) continue;
    if (range.begin > held->unit.committed) {
      cut(*held, range.begin, reason, now, changes);
    } else {
      close(id, UnitState::cancelled, reason, now, changes);
    }
  }
  ledger.take_away(range);
  failed = {};
}

void Stage::apply(const BringEvent& event, Timestamp /*now*/) {
  state_->told_seconds = event.seconds;
  state_->ledger.bring(event.range);
  state_->failed = {};
}

void Stage::apply(const TakeAwayEvent& event, Timestamp now, Changes& changes) {
  state_->take_away(event.range, event.reason, now, changes);
  tidy(changes);
}

}  // namespace gleaner::policy
