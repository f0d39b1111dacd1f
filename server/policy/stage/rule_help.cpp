// How an idle slot helps live holders: split the unit that would end last so that both end together; copy it
// where it cannot be split, within a budget; and flood the very last rests [server/policy/POLICY.md, R6].
#include <algorithm>
#include <cmath>

#include "server/policy/stage/state.h"

namespace gleaner::policy {
namespace {

struct Helper {
  const StageState& stage;
  const Requester& requester;
  double rate;
  const EndgameRules& rules;
  Timestamp now;
  const Take& take;

  [[nodiscard]] bool split(const Group& group) const {
    if (!stage.setup.may_split) return false;
    const Held* live = nullptr;
    for (const Held* held : group.members) {
      if (!held->live()) continue;
      if (live != nullptr) return false;  // copied already: the first one ends it
      live = held;
    }
    const Costs& costs = stage.ledger.costs();
    const Unit& unit = live->unit;
    const double left = Forecast::seconds_left(*live, now);
    if (left <= rules.gain_minimum) return false;

    // Where the holder will be when it hears of the cut: beyond that, nobody computes an item twice.
    const Timestamp hears = later(std::max(now, live->watch.told_contact), rules.look_ahead);
    std::int64_t safe = std::max(unit.committed, unit.finished);
    // It keeps the item in progress, whatever its hint says.
    if (live->estimate.starts <= hears)
      safe = std::max(safe, costs.item_at(stage.forecast.work_done(*live, hears))) + 1;
    if (safe >= unit.range.end) return false;

    // Both end together: the holder after left - x / r, the requester after o + x / ri.
    const double r = live->estimate.rate;
    const double work = rate * r * (left - rules.request_delay) / (rate + r);
    const auto end_with = [&](std::int64_t from) {
      const double moved = costs.of({from, unit.range.end});
      return std::max(left - moved / r, rules.request_delay + moved / rate);
    };
    std::int64_t from =
        std::clamp(costs.tail_worth(unit.range, std::max(0.0, work)), safe, unit.range.end - 1);
    for (const std::int64_t other : {from - 1, from + 1}) {
      if (other >= safe && other < unit.range.end && end_with(other) < end_with(from)) from = other;
    }
    const double sooner = end_with(from);
    if (left - sooner <= rules.gain_minimum) return false;
    Proposal split{UnitKind::split, {from, unit.range.end}};
    split.of = group.id;
    split.work = costs.of(split.range);
    split.reason =
        stage.because("the last {} items of unit {}: its host {} would need {:.1f} s, both together {:.1f} s",
                      split.range.size(), unit.id.value, unit.host.value, left, sooner);
    split.cut_at = from;
    split.cut_reason = stage.because("host {} computes the rest, to end in {:.1f} s instead of {:.1f} s",
                                     requester.host.value, sooner, left);
    return take(split);
  }

  [[nodiscard]] bool copy(const Group& group) const {
    if (rules.copy_budget <= 0 || holds_any(group, requester.host)) return false;
    int live = 0;
    for (const Held* held : group.members) {
      // A slow copy, made before anybody knew how long the item is, does not keep a much faster one out.
      if (held->live() &&
          (!rules.fast_copies || rate <= numbers::much_faster * stage.clock.fleet().rate(held->host->record)))
        ++live;
    }
    const bool flood = static_cast<double>(stage.clock.idle_slots()) >
                       numbers::idle_per_unit * static_cast<double>(stage.units.open().size());
    if (live >= (flood ? rules.flood_copies : rules.live_copies)) return false;
    if (static_cast<int>(group.members.size()) >= members_max(rules)) return false;
    const Held& first = *Forecast::first_to_end(group);
    const Unit& unit = first.unit;
    if (HostClock::only_delivery_missing(first, now, rules)) return false;
    const std::int64_t from =
        unit.finished < unit.range.end ? std::max(unit.committed, unit.finished) : unit.committed;
    const std::vector<Range> lacking = stage.ledger.accepted().missing({from, unit.range.end});
    if (lacking.empty()) return false;
    Proposal copy{UnitKind::copy, {std::max(from, lacking.front().begin), unit.range.end}};

    const Costs& costs = stage.ledger.costs();
    const std::int64_t item = copy.range.begin;
    const double left = Forecast::seconds_left(group, now);
    const double work =
        costs.of(copy.range) - costs.of({item, item + 1}) + stage.items.elsewhere(first, item);
    const double mine = work / rate + rules.request_delay;
    const bool sooner = mine < numbers::sooner_share * left && left - mine > rules.gain_minimum;
    const bool insurance =
        left > rules.gain_minimum && mine < left + numbers::insurance_gains * rules.gain_minimum;
    const bool flooding = flood && mine < std::max(rules.unit_minimum, numbers::flood_factor * left);
    if (!sooner && !insurance && !flooding) return false;
    if (stage.totals.copied_cost + work > stage.setup.rules.copy_budget * costs.total()) {
      // In a small stage one item may exceed the budget: the very last unit may still have one copy that
      // halves the wait.
      const auto& latest = stage.forecast.live();
      const bool last = latest.rbegin()->second == group.id || latest.size() == 1;
      if (!last || live > 1 || !sooner || mine > numbers::exempt_share * left) return false;
    }
    if (!sooner && !insurance) copy.kind = UnitKind::flood;
    copy.of = group.id;
    copy.as_copy = true;
    copy.work = copy.price = work;
    copy.reason = stage.because(
        "a copy of the last {} items of unit {}: its host {} would need {:.1f} s, this one {:.1f} s",
        copy.range.size(), unit.id.value, unit.host.value, left, mine);
    return take(copy);
  }
};

// The groups that end last, latest first; those that should have ended by now by id.
std::vector<UnitId> latest_groups(const StageState& stage, Timestamp now) {
  const auto& live = stage.forecast.live();
  std::vector<std::pair<double, UnitId>> found;
  const auto count = static_cast<std::size_t>(std::max(1, stage.setup.rules.look_at));
  for (auto next = live.rbegin(); next != live.rend() && found.size() < count; ++next)
    found.emplace_back(-Forecast::seconds_left(*stage.units.group(next->second), now), next->second);
  std::sort(found.begin(), found.end());
  std::vector<UnitId> ids;
  for (const auto& [left, id] : found) ids.push_back(id);
  return ids;
}

}  // namespace

std::string propose_help(const StageState& stage, const Requester& requester, Timestamp now,
                         const Take& take) {
  const EndgameRules rules = stage.pace();
  const Helper helper{stage, requester, stage.clock.rate(requester.host), rules, now, take};
  if (helper.rate <= 0) return {};
  for (const UnitId id : latest_groups(stage, now)) {
    const Group& group = *stage.units.group(id);
    if (helper.split(group) || helper.copy(group)) break;
  }
  return {};
}

}  // namespace gleaner::policy
