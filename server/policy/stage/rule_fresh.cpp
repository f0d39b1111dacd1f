// The free pool: which items a host gets, and how many [server/policy/POLICY.md, R2 and R3].
//
// While the longest free item is a noticeable part of the time that remains, units start at the longest item
// that fits the host, and go on from there in plain order as long as the sizing says and nothing comes that
// does not fit. So units stay ranges: a long item is handed out alone, a shorter one with its neighbours, and
// what is left of the pool keeps its order. Where hints say nothing, plain order stays, and only the fit is
// watched.
#include <algorithm>
#include <cmath>

#include "server/policy/stage/state.h"

namespace gleaner::policy {
namespace {

// Items of a unit looked at for one that does not fit; in a unit of more none is long.
constexpr std::int64_t items_looked_at = 10'000;

// Where the next unit of a host starts while there are long items.
struct LongPick {
  Range from;            // a part of the free pool; empty: plain order
  double most_cost = 0;  // the unit ends before an item that costs more
};

// Who asks first is not all that will come: for a minute nobody knows how long all will take.
bool settling(const StageState& stage, const EndgameRules& rules, Timestamp now) {
  return now < later(stage.first_request, rules.unit_minimum);
}

LongPick pick_long(const StageState& stage, const Requester& requester, const EndgameRules& rules,
                   Timestamp now) {
  const Ledger& ledger = stage.ledger;
  const double rate = stage.clock.rate(requester.host);
  if (rate <= 0) return {};
  const double all = (ledger.here_cost() - ledger.accepted_cost()) / stage.clock.fleet().rate_on();
  LongPick pick;
  pick.most_cost = rules.fit * all * rate;
  if (settling(stage, rules, now)) pick.most_cost = std::min(pick.most_cost, rules.unit_maximum * rate);
  std::optional<std::int64_t> item;
  if (const FreeByCost* by_cost = ledger.by_cost()) {
    item = by_cost->longest_up_to(pick.most_cost);
    if (!item && !by_cost->all()) return pick;  // plain order: shorter ones than those it looks after
    if (!item) item = by_cost->shortest();
  } else {
    item = ledger.free().front().begin;
  }
  if (!item) return pick;
  pick.from = ledger.free().from(*item);
  return pick;
}

std::int64_t fitting_end(const Costs& costs, Range range, double most_cost) {
  if (!costs.differ()) return costs.longest() > most_cost ? range.begin + 1 : range.end;
  std::int64_t end = range.begin + 1;
  const std::int64_t most = std::min(range.end, range.begin + items_looked_at);
  while (end < most && costs.of({end, end + 1}) <= most_cost) ++end;
  return end == most ? range.end : end;
}

// The rules, as the limits that the sizing strategies know.
GridLimits grid_limits(const StageState& stage, const EndgameRules& rules) {
  GridLimits limits;
  limits.lease_seconds = rules.lease;
  limits.minimum_seconds = rules.unit_minimum;
  limits.target_seconds = limits.maximum_seconds = rules.unit_maximum;
  if (stage.clock.fleet().rate_on() > 0)
    limits.target_seconds =
        std::clamp(rules.guided_fraction * stage.seconds_of_rest(), rules.unit_minimum, rules.unit_maximum);
  return limits;
}

WorkerView view_of(const StageState& stage, const HostRecord& record, double mean_cost) {
  WorkerView worker;
  worker.host = record.host;
  worker.performance = record.performance;
  worker.queue_unloaded = record.queue_unloaded;
  worker.queue_current = record.queue_current;
  worker.proposed_items = record.proposed_items;
  worker.rate = record.rate / mean_cost;
  worker.rate_estimate = stage.clock.fleet().rate(record) / mean_cost;
  worker.used_performance = record.used_performance;
  worker.requests = record.requests;
  worker.returned = record.returned;
  worker.current_size = record.current_size;
  worker.available = !record.omitted;
  worker.times = record.times.in_items_of(mean_cost);
  return worker;
}

Size size_for(const StageState& stage, const Requester& requester, const EndgameRules& rules, Timestamp now) {
  const Ledger& ledger = stage.ledger;
  const double mean_cost = ledger.free_cost() / static_cast<double>(ledger.free().total());
  SizingView view;
  view.items = ledger.items();
  view.free = ledger.free().total();
  view.completed = ledger.accepted().total();
  view.free_cost = ledger.free_cost();
  view.mean_cost = mean_cost;
  view.cost_variation = stage.cost_variation;
  view.memory = stage.sizing_memory;
  view.explain = stage.setup.explain;
  std::vector<WorkerView> workers;
  if (stage.sizing->mode() == SizingMode::paper && stage.sizing->compares()) {
    for (const auto& [id, host] : stage.clock.hosts()) {
      if (id == requester.host) view.requester = workers.size();
      workers.push_back(view_of(stage, host.record, mean_cost));
    }
  } else {
    workers.push_back(view_of(stage, stage.clock.find(requester.host)->record, mean_cost));
  }
  if (stage.sizing->mode() == SizingMode::grid) {
    view.fleet = stage.clock.fleet().totals(mean_cost);
    view.limits = grid_limits(stage, rules);
    if (requester.relay && settling(stage, rules, now)) view.limits.maximum_seconds = rules.unit_minimum;
    view.guided_fraction = rules.guided_fraction;
    view.remaining_seconds = stage.seconds_of_rest();
  }
  view.workers = workers;
  return stage.sizing->size(view);
}

// What a mapping strategy planned, as far as it is free and the host may have it.
std::string propose_planned(const StageState& stage, const Requester& requester, const Take& take) {
  if (requester.planned->empty()) return "the plan has nothing for this slot now";
  const std::vector<Range> parts = stage.ledger.free().within(*requester.planned);
  if (parts.empty()) return "the planned range of this slot is taken";
  Proposal fresh;
  fresh.range = stage.ledger.allowed(parts.front(), requester.host, stage.others_on());
  if (fresh.range.empty()) return "the planned range made a kernel fail on this host";
  fresh.reason = requester.planned_reason;
  take(fresh);
  return {};
}

}  // namespace

double fast_from(const StageState& stage) {
  const Fleet& fleet = stage.clock.fleet();
  return std::min(fleet.mean_rate() / numbers::clearly, fleet.fastest_rate());
}

bool long_items_matter(const StageState& stage) {
  const EndgameRules rules = stage.pace();
  const Costs& costs = stage.ledger.costs();
  if (stage.ledger.free().empty() || stage.sizing->mode() == SizingMode::paper ||
      stage.clock.fleet().rate_on() <= 0)
    return false;
  const double limit = rules.unit_minimum * stage.clock.fleet().mean_rate();
  if (costs.longest() <= limit) return false;
  const FreeByCost* by_cost = stage.ledger.by_cost();
  if (!costs.differ() || by_cost == nullptr) return true;
  const auto longest = by_cost->longest();
  return longest && costs.of({*longest, *longest + 1}) > limit;
}

std::string propose_fresh(const StageState& stage, const Requester& requester, Timestamp now,
                          const Take& take) {
  if (requester.planned) return propose_planned(stage, requester, take);
  const Ledger& ledger = stage.ledger;
  const EndgameRules rules = stage.pace();
  LongPick pick;
  if (long_items_matter(stage)) pick = pick_long(stage, requester, rules, now);
  Proposal fresh;
  const Ledger::OthersOn others = stage.others_on();
  Range from = ledger.allowed(pick.from, requester.host, others);
  if (from.empty()) {
    pick = {};
    from = ledger.next_free(requester.host, others);
  }
  if (from.empty()) return "the free items made a kernel fail on this host";
  fresh.size = size_for(stage, requester, rules, now);
  if (fresh.size->items <= 0) return fresh.size->reason;
  fresh.range = {from.begin, std::min(from.end, from.begin + fresh.size->items)};
  if (stage.sizing->mode() == SizingMode::grid && ledger.costs().hinted()) {
    const double work = static_cast<double>(fresh.size->items) * ledger.free_cost() /
                        static_cast<double>(ledger.free().total());
    fresh.range.end = std::max(from.begin + 1, ledger.costs().head_worth(from, work));
  }
  fresh.reason = std::move(fresh.size->reason);
  if (!pick.from.empty()) {
    fresh.range.end = fitting_end(ledger.costs(), fresh.range, pick.most_cost);
    fresh.reason += stage.because("; from item {} on, the longest that fits", from.begin);
  }
  take(fresh);
  return {};
}

}  // namespace gleaner::policy
