// How an idle slot helps live holders: split the unit that would end last so that both end together; copy it
// where it cannot be split [server/policy/POLICY.md, R7, R8].
#include <algorithm>
#include <cmath>

#include "server/policy/stage/copier.h"

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
    const Timestamp hears = later(std::max(now, live->watch.told_contact), rules.gain_minimum);
    std::int64_t safe = std::max(unit.committed, unit.finished);
    // It keeps the item in progress, whatever its hint says.
    if (live->estimate.starts <= hears)
      safe = std::max(safe, costs.item_at(stage.forecast.work_done(*live, hears))) + 1;
    // Until a relay hears of it, it hands out more of its tail.
    const double r = live->estimate.rate;
    if (live->host->relay) {
      const double given =
          r * std::max(0.0, seconds_between(std::max(unit.last_contact, live->estimate.starts), hears));
      safe = std::max(unit.committed,
                      costs.item_at(costs.before(std::max(live->begun, unit.range.begin)) + given));
    }
    if (safe >= unit.range.end) return false;

    // Both end together: the holder after left - x / r, the requester after o + x / ri.
    const int lanes = stage.clock.find(requester.host)->lanes;
    const double work = rate * r * (left - rules.request_delay) / (rate + r);
    const auto end_with = [&](std::int64_t from) {
      const double moved = costs.of({from, unit.range.end});
      return std::max(left - moved / r,
                      rules.request_delay + moved / shared_rate(rate, unit.range.end - from, lanes));
    };
    std::int64_t from =
        std::clamp(costs.tail_worth(unit.range, std::max(0.0, work)), safe, unit.range.end - 1);
    for (const std::int64_t other : {from - 1, from + 1}) {
      if (other >= safe && other < unit.range.end && end_with(other) < end_with(from)) from = other;
    }
    const double sooner = end_with(from);
    if (left - sooner <= rules.gain_minimum) return false;
    // A relay delivers any part: its tail may be there before the rest.
    if (stage.ledger.accepted().contains(Range{from, unit.range.end})) return false;
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
};

}  // namespace

std::string propose_help(const StageState& stage, const Requester& requester, Timestamp now,
                         const Take& take) {
  const EndgameRules rules = stage.pace();
  const Helper helper{stage, requester, stage.clock.rate(requester.host), rules, now, take};
  if (helper.rate <= 0) return {};
  const Copier copier(stage, requester, now, take);
  // The groups that end last, latest first.
  const auto& live = stage.forecast.live();
  int looked = 0;
  for (auto next = live.rbegin(); next != live.rend() && looked < numbers::looked_at; ++next) {
    const Group& group = *next->second;
    if (helper.split(group) || copier.copy_rest(group, ++looked == 1)) break;
  }
  return {};
}

}  // namespace gleaner::policy
