// R3: while the longest free item is a noticeable part of the time that remains, units start at the longest
// item that fits the host, and go on from there in plain order as long as the sizing says and nothing comes
// that does not fit. So units stay ranges: a long item is handed out alone, a shorter one with its
// neighbours, and what is left of the pool keeps its order. Where hints say nothing, plain order stays, and
// only the fit is watched.
#include <algorithm>

#include "server/policy/stage/state.h"

namespace gleaner::policy {
namespace {

// "Hints differ much": the longest item takes this part of the time that remains, and at least as long as the
// shortest unit, on a mean slot.
constexpr double long_share = 0.01;
// Who would need so much longer than all together is parked, unless it is this much faster than the mean.
constexpr double park_factor = 1.5;
constexpr double fast_factor = 1.2;
// Items of a unit looked at for one that does not fit; in a unit of more none is long.
constexpr std::int64_t items_looked_at = 10'000;

}  // namespace

// Who asks first is not all that will come: for a minute nobody knows how long all will take.
bool StageState::settling(const EndgameRules& rules, Timestamp now) const {
  return rules.settle && now < later(first_request, rules.unit_minimum);
}

double StageState::fast_from() const {
  return std::min(fast_factor * fleet.mean_rate(), fleet.fastest_rate());
}

bool StageState::long_items_matter(const EndgameRules& rules, Timestamp now) {
  if (!rules.long_items_first || free.empty() || sizing->mode() == SizingMode::paper) return false;
  const double fleet_rate = fleet.rate_on();
  if (fleet_rate <= 0) return false;
  const double share = settling(rules, now) ? 0 : long_share;
  const double seconds = std::max(share * (free_cost + stalled_cost) / fleet_rate, rules.unit_minimum);
  const double limit = seconds * fleet.mean_rate();
  if (costs.longest() <= limit) return false;
  if (!costs.differ()) return true;
  if (!free_by_cost) free_by_cost.emplace(costs, free);
  const auto longest = free_by_cost->longest();
  return longest && costs.of({*longest, *longest + 1}) > limit;
}

LongPick StageState::pick_long(const Requester& requester, const EndgameRules& rules, Timestamp now) {
  const double rate = fleet.rate(hosts.at(requester.host).record);
  if (rate <= 0) return {};
  const double all = (costs.total() - accepted_cost) / fleet.rate_on();  // Tall
  LongPick pick;
  pick.most_cost = rules.fit * all * rate;
  if (settling(rules, now)) pick.most_cost = std::min(pick.most_cost, rules.unit_maximum * rate);
  std::optional<std::int64_t> item;
  if (free_by_cost) {
    item = free_by_cost->longest_up_to(pick.most_cost);
    if (!item && !free_by_cost->all()) return pick;  // plain order: shorter ones than those it looks after
    if (!item) item = free_by_cost->shortest();
  } else {
    item = free.front().begin;
  }
  if (!item) return pick;
  const double cost = costs.of({*item, *item + 1});
  if (cost > pick.most_cost) {
    if (rate < fast_from() && cost / rate > park_factor * all + rules.unit_minimum) {
      // Faster hosts come as soon as they have ended what they hold. If none does, somebody must take it.
      if (parked_since > now) parked_since = now;
      if (now < later(parked_since, std::min(all, rules.unit_maximum) + 2 * rules.park)) {
        pick.park = true;
        return pick;
      }
    }
  }
  pick.from = free.from(*item);
  return pick;
}

std::int64_t StageState::fitting_end(Range range, double most_cost) const {
  if (!costs.differ()) return costs.longest() > most_cost ? range.begin + 1 : range.end;
  std::int64_t end = range.begin + 1;
  const std::int64_t most = std::min(range.end, range.begin + items_looked_at);
  while (end < most && costs.of({end, end + 1}) <= most_cost) ++end;
  return end == most ? range.end : end;
}

}  // namespace gleaner::policy
