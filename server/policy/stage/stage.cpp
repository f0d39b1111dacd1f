#include "server/policy/stage/stage.h"

#include <algorithm>

#include "server/policy/sizing/rules.h"
#include "server/policy/stage/state.h"
#include "server/policy/stage/straggler.h"

namespace gleaner::policy {
namespace {

template <typename Id>
void sort_once(std::vector<Id>& ids) {
  if (ids.size() < 2) return;
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
}

}  // namespace

void tidy(Changes& changes) {
  sort_once(changes.units);
  sort_once(changes.hosts);
}

Stage::Stage(StageSetup setup) : state_(std::make_unique<StageState>(std::move(setup))) {}
Stage::~Stage() = default;
Stage::Stage(Stage&&) noexcept = default;
Stage& Stage::operator=(Stage&&) noexcept = default;

void Stage::apply(const RestoreEvent& event, Timestamp now) {
  state_->restore(event, now);
}

void Stage::apply(const RememberEvent& event, Timestamp /*now*/) {
  StageState& state = *state_;
  const Unit& unit = event.unit;
  if (unit.state == UnitState::open || state.units.known(unit.id)) return;
  static_cast<void>(state.clock.host(unit.host));
  state.units.remember({unit, 0, unit.committed > unit.range.begin});
}

Grant Stage::apply(const RequestEvent& event, Timestamp now, Changes& changes) {
  Grant grant = state_->request(event.requester, now, changes);
  tidy(changes);
  return grant;
}

protocol::UnitOrder Stage::apply(const ReportEvent& event, Timestamp now, Changes& changes) {
  auto order = state_->report(event.host, event.report, now, changes);
  tidy(changes);
  return order;
}

protocol::UnitOrder Stage::apply(const RelayReportEvent& event, Timestamp now, Changes& changes) {
  auto order = state_->report(event.host, event.report, now, changes);
  tidy(changes);
  return order;
}

void Stage::apply(const AdmitRelayEvent& event, Timestamp /*now*/) {
  state_->clock.host(event.host).relay = true;
}

void Stage::apply(const ExpectEvent& event, Timestamp /*now*/) {
  state_->energy.expect(event.hosts);
}

bool Stage::apply(const SaveEvent& event, Timestamp /*now*/) {
  return state_->save(event);
}

CommitOutcome Stage::preview_commit(HostId host, UnitId unit, Range range) const {
  return state_->judge(state_->find(unit, host), unit, range);
}

CommitOutcome Stage::apply(const CommitEvent& event, Timestamp now, Changes& changes) {
  auto outcome = state_->commit(event, now, changes);
  tidy(changes);
  return outcome;
}

void Stage::apply(const GiveBackEvent& event, Timestamp now, Changes& changes) {
  const auto& [host, unit, why, item, reason] = event;
  StageState& state = *state_;
  state.refresh(now, changes);
  Held* held = state.find_open(unit, host);
  if (held == nullptr) return;
  if (!held->host->relay) held->computed = item;  // whose hosts are anywhere in it
  const Range rest{held->unit.committed, held->unit.range.end};
  const bool is_check = held->unit.kind == UnitKind::check;
  if (why != GiveBack::returned && !is_check) {
    state.note_failure(host, rest.contains(item) ? item : rest.begin, why, reason, now, changes);
  }
  state.close(unit, why == GiveBack::returned ? UnitState::cancelled : UnitState::failed, reason, now,
              changes);
  tidy(changes);
}

void Stage::apply(const HostLeftEvent& event, Timestamp now, Changes& changes) {
  StageState& state = *state_;
  const Host* host = state.clock.find(event.host);
  if (host == nullptr) return;
  for (const auto& slot : host->slots) {
    const auto held = slot->units;
    for (const Held* one : held) state.close(one->unit.id, UnitState::cancelled, event.reason, now, changes);
    state.clock.left(*slot, now);
  }
  tidy(changes);
}

void Stage::apply(const TickEvent& /*event*/, Timestamp now, Changes& changes) {
  state_->refresh(now, changes);
  state_->expire(now, changes);
  state_->omit(now, changes);
  tidy(changes);
}

void Stage::apply(const EnoughEvent& /*event*/, Timestamp now, Changes& changes) {
  StageState& state = *state_;
  if (state.ledger.ended()) return;
  state.ledger.end();
  for (const UnitId id : state.units.open_by_id())
    state.close(id, UnitState::cancelled, "no more items are needed", now, changes);
  state.checks.clear();
  tidy(changes);
}

Status Stage::apply(const SizingEvent& event, Timestamp /*now*/) {
  TRY_ASSIGN(auto made, make_sizing(event.strategy));
  state_->sizing = std::move(made);
  state_->setup.sizing = event.strategy;
  // What a strategy remembers of a host or the stage means nothing to another one.
  state_->sizing_memory = {};
  for (const auto& [id, host] : state_->clock.hosts()) {
    state_->clock.change(state_->clock.host(id), [](Host& changed) {
      changed.record.used_performance = 0;
      changed.record.current_size = 0;
      changed.record.memory = {};
    });
  }
  return {};
}

Status Stage::apply(const StragglerEvent& event, Timestamp /*now*/) {
  TRY_ASSIGN(const Straggler rule, straggler_from(event.rule));
  StageState& state = *state_;
  state.setup.straggler = rule;
  state.rule = &rule_of(rule);
  state.holders_limit = std::max(state.holders_limit, state.rule->holders_max(state.setup.rules));
  state.copies.made = Timestamp::min();
  state.copies.plan = {};
  state.copies.last = {};
  state.failed = {};
  return {};
}

}  // namespace gleaner::policy
