#include "server/policy/stage/stage.h"

#include <algorithm>

#include "server/policy/sizing/rules.h"
#include "server/policy/stage/state.h"
#include "server/policy/stage/straggler.h"

namespace gleaner::policy {
namespace {

// A slot may hold the unit it computes and one that waits.
constexpr std::size_t units_per_slot_max = 2;

template <typename Id>
void sort_once(std::vector<Id>& ids) {
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
}

}  // namespace

void tidy(Changes& changes) {
  sort_once(changes.units);
  sort_once(changes.hosts);
}

const char* name_of(UnitKind kind) {
  switch (kind) {
    case UnitKind::fresh:
      return "fresh";
    case UnitKind::recover:
      return "recover";
    case UnitKind::split:
      return "split";
    case UnitKind::copy:
      return "copy";
    case UnitKind::flood:
      return "flood";
    case UnitKind::check:
      return "check";
  }
  return "unknown";
}

const char* name_of(UnitState state) {
  switch (state) {
    case UnitState::open:
      return "open";
    case UnitState::done:
      return "done";
    case UnitState::cancelled:
      return "cancelled";
    case UnitState::failed:
      return "failed";
    case UnitState::expired:
      return "expired";
  }
  return "unknown";
}

StageState::StageState(StageSetup setup_in) : setup(std::move(setup_in)), costs(setup.items, setup.costs) {
  setup.rules.unit_minimum = std::min(setup.rules.unit_minimum, setup.rules.unit_maximum);
  auto made = make_sizing(setup.sizing);
  CHECK_TRUE(made.ok());
  sizing = std::move(made).value();
  rule = &rule_of(setup.straggler);
  holders_limit = rule->holders_max(setup.rules);
  fleet.believe(setup.benchmark_worth);
  cost_variation = variation_of(setup.costs);
  setup.costs.clear();  // kept as sums
  setup.costs.shrink_to_fit();
  add_free({0, setup.items});
}

Stage::Stage(StageSetup setup) : state_(std::make_unique<StageState>(std::move(setup))) {}
Stage::~Stage() = default;
Stage::Stage(Stage&&) noexcept = default;
Stage& Stage::operator=(Stage&&) noexcept = default;

void Stage::restore(const std::vector<Range>& accepted, const std::vector<Unit>& units,
                    const std::vector<HostRecord>& hosts, const std::vector<Range>& set_aside,
                    Timestamp now) {
  state_->restore(accepted, units, hosts, set_aside, now);
}

void Stage::remember(const Unit& unit) {
  StageState& state = *state_;
  if (unit.state == UnitState::open || state.open.contains(unit.id) || state.closed.contains(unit.id)) return;
  Held held;
  held.unit = unit;
  held.returned = unit.committed > unit.range.begin;
  state.host_of(unit.host);
  state.closed.emplace(unit.id, std::move(held));
  state.closed_order.push_back(unit.id);
}

Grant Stage::request(const Requester& requester, Timestamp now, Changes& changes) {
  StageState& state = *state_;
  state.refresh(now, changes);
  Host& host = state.host_of(requester.host);
  state.change_host(host, [&](Host& changed) {
    HostRecord& record = changed.record;
    if (requester.performance > 0) record.performance = requester.performance;
    record.queue_unloaded = requester.queue_unloaded;
    record.queue_current = requester.queue_current;
    record.proposed_items = requester.proposed_items;
    record.slots = std::max(record.slots, requester.slots);
    record.last_contact = now;
  });
  Slot& slot = state.slot_of({requester.host, requester.slot});
  state.has_asked(requester, slot);
  state.contact_slot(slot, now);
  const double park = state.pace().park;
  state.first_request = std::min(state.first_request, now);
  if (complete()) return {{}, park, "everything is delivered"};
  if (host.record.omitted)
    return {{}, park, "this host was left out: it had returned nothing when 70 % were completed"};
  if (!requester.urgent && slot.units.size() >= units_per_slot_max) {
    return {{}, park, "a unit waits in this slot already"};
  }
  Grant grant = state.grant_check(requester, now, changes);
  if (!grant.unit && requester.urgent) grant = state.reissue(requester, now, changes);
  if (!grant.unit && state.setup.straggler == Straggler::split && !requester.planned && !state.free.empty())
    grant = state.copy_early(requester, now, changes);
  const bool chooses = state.setup.straggler == Straggler::split && requester.urgent && !requester.planned;
  if (!grant.unit && chooses && state.leave_free_to_thriftier(requester, now))
    grant.reason = "hosts that draw less for it are about to ask for what is free";
  else if (!grant.unit)
    grant = state.grant_fresh(requester, now, changes);
  if (!grant.unit && requester.urgent && !state.left_to_thriftier) {
    if (Grant late = state.rule->help(state, requester, now, changes); late.unit || grant.reason.empty())
      grant = std::move(late);
  }
  if (!grant.unit) {
    grant.retry_after = park;
    if (grant.reason.empty()) grant.reason = "nothing is free; the last units go to idle slots";
    state.waits_until(slot, later(now, latest_return(grant.retry_after)));
  }
  tidy(changes);
  return grant;
}

protocol::UnitOrder Stage::report(HostId host, const protocol::UnitReport& report, Timestamp now,
                                  Changes& changes) {
  auto order = state_->report(host, report, now, changes);
  tidy(changes);
  return order;
}

void Stage::expect(const std::vector<IdleHost>& hosts) {
  state_->expect(hosts);
}

bool Stage::save(HostId host, UnitId unit, std::int64_t item, double share) {
  return state_->save(host, unit, item, share);
}

CommitOutcome Stage::preview_commit(HostId host, UnitId unit, Range range) const {
  return state_->judge(host, unit, range);
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
  Held* held = state.find(unit, host);
  if (held == nullptr || held->unit.state != UnitState::open) return;
  const Range rest{held->unit.committed, held->unit.range.end};
  const bool is_check = held->unit.kind == UnitKind::check;
  if (why == GiveBack::failed && !is_check) {
    state.note_failure(host, rest.contains(item) ? item : rest.begin, reason, now, changes);
  }
  state.close(unit, why == GiveBack::failed ? UnitState::failed : UnitState::cancelled, reason, now, changes);
  tidy(changes);
}

void Stage::host_left(HostId host, const std::string& reason, Timestamp now, Changes& changes) {
  StageState& state = *state_;
  const auto found = state.hosts.find(host);
  if (found == state.hosts.end()) return;
  const std::vector<int> slots = found->second.slots;
  for (const int slot : slots) {
    Slot& left = state.slots.at({host, slot});
    const std::vector<Held*> units = left.units;
    for (const Held* held : units) {
      state.close(held->unit.id, UnitState::cancelled, reason, now, changes);
    }
    state.slots_by_off.erase({left.watched_from, left.key});
    left.watched_from = Timestamp::max();
    left.off_at = Timestamp::min();
    state.update_slot(left, now);
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
  if (state.enough) return;
  state.enough = true;
  std::vector<UnitId> units;
  for (const auto& [id, held] : state.open) units.push_back(id);
  std::sort(units.begin(), units.end());
  for (const UnitId id : units)
    state.close(id, UnitState::cancelled, "no more items are needed", now, changes);
  state.checks.clear();
  state.disputed.clear();
  const Range all{0, state.setup.items};
  for (const Range part : state.accepted.missing(all)) {
    for (const Range rest : state.set_aside.missing(part)) state.dropped.add(rest);
  }
  state.remove_free(all);
  tidy(changes);
}

Status Stage::set_sizing(const std::string& text) {
  TRY_ASSIGN(auto made, make_sizing(text));
  state_->sizing = std::move(made);
  state_->setup.sizing = text;
  // What a strategy remembers of a host or the stage means nothing to another one.
  state_->sizing_memory = {};
  for (auto& [id, host] : state_->hosts) {
    state_->change_host(host, [](Host& changed) {
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
  state.plan = {};
  state.vain = {};
}

}  // namespace gleaner::policy
