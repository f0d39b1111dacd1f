// An indivisible item that would end after all the rest holds up the whole stage: while there is free work, a
// fast host that asks gets a copy of it, when it is about time [server/policy/POLICY.md, R8]. There are two
// kinds: items whose hint, or what their holder says is done of them, says that they are long; and items that
// have taken long. A holder that is paused or silent counts as one that never ends.
#include <algorithm>
#include <limits>

#include "server/policy/stage/state.h"

namespace gleaner::policy {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();
// Items looked at for one that the host should copy.
constexpr int copies_looked_at = 64;

struct EarlyCopier {
  const StageState& stage;
  const Requester& requester;
  double rate;  // the host's
  double rest;  // the seconds that all that is free or stalled will take
  const EndgameRules& rules;
  Timestamp now;
  const Take& take;

  [[nodiscard]] bool beyond_budget(double cost) const {
    return stage.totals.copied_cost + cost > stage.setup.rules.copy_budget * stage.ledger.costs().total();
  }

  // Its holder gives back what follows: whoever ends the item first, nobody computes it for the rest's sake.
  [[nodiscard]] bool copy(std::int64_t item, double cost, UnitId group, std::string reason) const {
    Proposal copy{UnitKind::copy, {item, item + 1}, std::move(reason), group, true};
    copy.cut_at = item + 1;
    copy.cut_reason = "its item in progress takes too long";
    copy.price = cost;
    return take(copy);
  }

  [[nodiscard]] bool long_items() const {
    const Ledger& ledger = stage.ledger;
    // What is free and as long goes first.
    const auto longest = ledger.by_cost() != nullptr ? ledger.by_cost()->longest() : std::nullopt;
    const double free_longest = longest ? ledger.costs().of({*longest, *longest + 1}) : 0;
    const auto& items = stage.items.long_items();
    int looked = 0;
    for (auto next = items.rbegin(); next != items.rend() && looked < copies_looked_at; ++next) {
      const auto [cost, item] = *next;
      if (cost < numbers::in_time_share * rest * rate || cost <= free_longest) break;
      if (ledger.accepted().contains(item)) continue;
      ++looked;
      // Its holders, and in how many seconds the first of them ends it.
      UnitId group;
      int all = 0, live = 0;
      double ends = never;
      for (const UnitId id : ledger.cover().over({item, item + 1})) {
        const Held& held = stage.units.at(id);
        if (held.group == nullptr || held.unit.finished > item) continue;
        group = held.unit.group;
        ++all;
        if (!held.live()) continue;
        ++live;
        const double starts = std::max(0.0, seconds_between(now, held.estimate.starts));
        const double to_do = ledger.costs().before(item + 1) - stage.forecast.work_done(held, now);
        ends = std::min(ends, starts + std::max(0.0, to_do) / held.estimate.rate);
      }
      const double left = (1 - stage.items.saved_share(item)) * cost;
      const double mine = left / rate + rules.request_delay;
      if (all == 0 || live >= rules.live_copies || all >= members_max(rules)) continue;
      if (ends <= rest + rules.gain_minimum || mine >= numbers::sooner_share * ends) continue;
      // In a small stage one item may exceed the budget: the longest may still have one copy.
      const bool exempt = looked == 1 && all == 1 && mine <= numbers::exempt_share * ends;
      if (!exempt && beyond_budget(left)) continue;
      if (holds_any(*stage.units.group(group), requester.host)) continue;
      const std::string reason = stage.because(
          "item {} would be done in {:.0f} s where it is, all the rest in {:.0f} s, and here in {:.0f} s",
          item, ends, rest, mine);
      if (copy(item, left, group, reason)) return true;
    }
    return false;
  }

  [[nodiscard]] bool overlong_items() const {
    int looked = 0;
    for (const auto& [item, what] : stage.items.overlong()) {
      if (what.listed > 0) continue;  // long_items() looks after it
      const ItemCosts::Spent& longest = what.longest();
      const bool soon = numbers::expected_more * longest.seconds > rest;
      // Where nobody is at it any more, a copy is due sooner.
      if (!soon && (!rules.fast_copies || longest.seconds <= rest)) continue;
      if (++looked > copies_looked_at) break;
      // The holders that compute it, and when the first of them should be done.
      UnitId group;
      int holders = 0;
      double ends = never;
      for (const UnitId id : stage.ledger.cover().over({item, item + 1})) {
        const Held& held = stage.units.at(id);
        const Unit& unit = held.unit;
        if (held.group == nullptr || unit.finished != item) continue;
        ++holders;
        group = unit.group;
        if (!held.watch.silent && unit.run_state == protocol::RunState::running)
          ends = std::min(ends, numbers::expected_more * unit.item_seconds);
      }
      if (holders == 0 || holders >= rules.live_copies || ends <= rest || (!soon && ends < never)) continue;
      if (holds_any(*stage.units.group(group), requester.host)) continue;
      const double proven = stage.items.proven(item);
      const double cost = proven > 0 ? proven : (1 + numbers::expected_more) * longest.cost;
      const double mine = cost / rate + rules.request_delay;
      if (mine >= numbers::sooner_share * ends || beyond_budget(cost)) continue;
      const std::string reason = stage.because(
          "item {} has taken {:.0f} s on host {}, all the rest needs {:.0f} s, this host {:.0f} s for it",
          item, longest.seconds, longest.host.value, rest, mine);
      if (copy(item, cost, group, reason)) return true;
    }
    return false;
  }
};

}  // namespace

std::string propose_early_copy(const StageState& stage, const Requester& requester, Timestamp now,
                               const Take& take) {
  const EndgameRules rules = stage.pace();
  const double rate = stage.clock.rate(requester.host), fleet_rate = stage.clock.fleet().rate_on();
  if (!stage.setup.may_split || rate <= 0 || fleet_rate <= 0) return {};
  if (rules.fast_copies && rate < fast_from(stage)) return {};
  if (stage.clock.slots().at({requester.host, requester.slot}).slow) return {};
  const EarlyCopier copier{stage, requester, rate, stage.seconds_of_rest(), rules, now, take};
  if (!copier.overlong_items()) static_cast<void>(copier.long_items());
  return {};
}

}  // namespace gleaner::policy
