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

void Stage::restore(const std::vector<Range>& accepted, const std::vector<Unit>& units,
                    const std::vector<HostRecord>& hosts, const std::vector<Range>& set_aside,
                    const std::vector<Range>& undecided, Timestamp now) {
  state_->restore(accepted, units, hosts, set_aside, undecided, now);
}

void Stage::remember(const Unit& unit) {
  StageState& state = *state_;
  if (unit.state == UnitState::open || state.units.known(unit.id)) return;
  static_cast<void>(state.clock.host(unit.host));
  state.units.remember({unit, 0, unit.committed > unit.range.begin});
}

Grant Stage::request(const Requester& requester, Timestamp now, Changes& changes) {
  Grant grant = state_->request(requester, now, changes);
  tidy(changes);
  return grant;
}

protocol::UnitOrder Stage::report(HostId host, const protocol::UnitReport& report, Timestamp now,
                                  Changes& changes) {
  auto order = state_->report(host, report, now, changes);
  tidy(changes);
  return order;
}

protocol::UnitOrder Stage::report(HostId host, const RelayReport& report, Timestamp now, Changes& changes) {
  auto order = state_->report(host, report, now, changes);
  tidy(changes);
  return order;
}

void Stage::admit_relay(HostId host) {
  state_->clock.host(host).relay = true;
}

void Stage::expect(const std::vector<IdleHost>& hosts) {
  state_->energy.expect(hosts);
}

bool Stage::save(HostId host, UnitId unit, std::int64_t item, double share) {
  return state_->save(host, unit, item, share);
}

CommitOutcome Stage::preview_commit(HostId host, UnitId unit, Range range) const {
  return state_->judge(state_->find(unit, host), unit, range);
}

CommitOutcome Stage::commit(HostId host, UnitId unit, Range range, bool last, Timestamp now,
                            Changes& changes) {
  auto outcome = state_->commit(host, unit, range, last, now, changes);
  tidy(changes);
  return outcome;
}

void Stage::give_back(HostId host, UnitId unit, GiveBack why, std::int64_t item, const std::string& reason,
                      Timestamp now, Changes& changes) {
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

void Stage::host_left(HostId id, const std::string& reason, Timestamp now, Changes& changes) {
  StageState& state = *state_;
  const Host* host = state.clock.find(id);
  if (host == nullptr) return;
  for (const auto& slot : host->slots) {
    const auto held = slot->units;
    for (const Held* one : held) state.close(one->unit.id, UnitState::cancelled, reason, now, changes);
    state.clock.left(*slot, now);
  }
  tidy(changes);
}

void Stage::tick(Timestamp now, Changes& changes) {
  state_->refresh(now, changes);
  state_->expire(now, changes);
  state_->omit(now, changes);
  tidy(changes);
}

void Stage::enough(Timestamp now, Changes& changes) {
  StageState& state = *state_;
  if (state.ledger.ended()) return;
  state.ledger.end();
  for (const UnitId id : state.units.open_by_id())
    state.close(id, UnitState::cancelled, "no more items are needed", now, changes);
  state.checks.clear();
  tidy(changes);
}

Status Stage::set_sizing(const std::string& text) {
  TRY_ASSIGN(auto made, make_sizing(text));
  state_->sizing = std::move(made);
  state_->setup.sizing = text;
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

void Stage::set_straggler(Straggler rule) {
  StageState& state = *state_;
  state.setup.straggler = rule;
  state.rule = &rule_of(rule);
  state.holders_limit = std::max(state.holders_limit, state.rule->holders_max(state.setup.rules));
  state.copies.made = Timestamp::min();
  state.copies.plan = {};
  state.copies.last = {};
  state.failed = {};
}

}  // namespace gleaner::policy
