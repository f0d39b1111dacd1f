// The stage's state as a whole: what it knows at the start, and the rules at its pace.
#include <algorithm>

#include "server/policy/sizing/rules.h"
#include "server/policy/stage/straggler.h"

namespace gleaner::policy {
namespace {

// A stage of unknown length is paced as one of so many seconds: reports come soon, and with them rates.
constexpr double unknown_length = 200;

}  // namespace

StageState::StageState(StageSetup setup_in)
    : setup(std::move(setup_in)),
      ledger(setup.items, setup.costs, setup.elsewhere),
      items(ledger.costs()),
      units(setup.closed_units_max),
      forecast(ledger.costs(), items),
      energy(clock) {
  setup.rules.unit_minimum = std::min(setup.rules.unit_minimum, setup.rules.unit_maximum);
  auto made = make_sizing(setup.sizing);
  CHECK_TRUE(made.ok());
  sizing = std::move(made).value();
  rule = &rule_of(setup.straggler);
  holders_limit = rule->holders_max(setup.rules);
  clock.believe(setup.benchmark_worth);
  cost_variation = variation_of(setup.costs);
  setup.costs.clear();  // kept as sums
  setup.costs.shrink_to_fit();
}

const EndgameRules& StageState::pace() const {
  const double rate = clock.fleet().rate_on();
  const double length = told_seconds > 0 ? told_seconds
                        : rate > 0       ? ledger.here_cost() / rate
                                         : unknown_length;
  if (length != paced_for_) {
    paced_for_ = length;
    paced_rules_ = paced(setup.rules, length);
  }
  return paced_rules_;
}

double StageState::seconds_of_rest() const {
  const double rate = clock.fleet().rate_on();
  return rate > 0 ? (ledger.free_cost() + forecast.stalled_cost()) / rate : 0;
}

Ledger::OthersOn StageState::others_on() const {
  return [this](const std::set<HostId>& failed_on) {
    return std::any_of(clock.hosts().begin(), clock.hosts().end(), [&](const auto& entry) {
      return entry.second.slots_on > 0 && !failed_on.contains(entry.first);
    });
  };
}

const KnownUnit* StageState::find(UnitId id, HostId host) const {
  const KnownUnit* known = units.find(id);
  return known != nullptr && known->unit.host == host ? known : nullptr;
}

Held* StageState::find_open(UnitId id, HostId host) {
  Held* held = units.find_open(id);
  return held != nullptr && held->unit.host == host ? held : nullptr;
}

void StageState::decide(Changes& changes, Timestamp now, HostId host, UnitId unit, const char* kind,
                        Range range, std::string reason) const {
  if (setup.explain) changes.decisions.push_back({now, host, unit, kind, range, std::move(reason)});
}

}  // namespace gleaner::policy
