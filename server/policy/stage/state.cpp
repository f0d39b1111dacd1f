// The stage's state as a whole: what it knows at the start, and the rules' time constants, which are tuned
// for stages of two hours and more and shrink with the stage.
#include <algorithm>
#include <cmath>

#include "server/policy/sizing/rules.h"
#include "server/policy/stage/straggler.h"

namespace gleaner::policy {
namespace {

// A stage of unknown length is paced as one of so many seconds: reports come soon, and with them rates.
constexpr double unknown_length = 200;

// `seconds` clamped to [low, high], where `high` is the rule itself and wins.
double shortened(double seconds, double low, double high) {
  return std::min(high, std::max(low, seconds));
}

}  // namespace

EndgameRules paced(const EndgameRules& rules, double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return rules;
  EndgameRules paced = rules;
  // At two hours, and somewhat below it since the rates that `seconds` came from may be too high, all of
  // them are the rules themselves.
  paced.rate_memory = shortened(std::max(seconds / 8, seconds / 4 - 300), 2, rules.rate_memory);
  paced.heartbeat = shortened(seconds / 40, 1, rules.heartbeat);
  paced.heartbeat_endgame = shortened(seconds / 60, 1, rules.heartbeat_endgame);
  paced.stall_silence = shortened(1.5 * paced.heartbeat + 1, 2.5, rules.stall_silence);
  paced.stall_silence_endgame =
      std::min(paced.stall_silence, shortened(seconds / 25, 2.5, rules.stall_silence_endgame));
  paced.look_ahead = shortened(seconds / 400, 0.1, rules.look_ahead);
  paced.gain_minimum = shortened(seconds / 400, 0.1, rules.gain_minimum);
  paced.unit_minimum = shortened(seconds / 60, 0.5, rules.unit_minimum);
  // In short stages the loss of a whole uncommitted unit would show; long ones rather save requests.
  paced.unit_maximum = shortened(std::max(seconds / 20, seconds / 4 - 110), 1, rules.unit_maximum);
  paced.park = shortened(seconds / 100, 0.25, rules.park);
  paced.lease_minimum = shortened(seconds / 8, 5, rules.lease_minimum);
  paced.request_delay = shortened(seconds / 400, 0.05, rules.request_delay);
  return paced;
}

StageState::StageState(StageSetup setup_in)
    : setup(std::move(setup_in)),
      ledger(setup.items, setup.costs),
      items(ledger.costs()),
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

EndgameRules StageState::pace() const {
  const double rate = clock.fleet().rate_on();
  const double length = rate > 0 ? ledger.costs().total() / rate : unknown_length;
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
  return [this](const std::map<HostId, int>& failed_on) {
    return std::any_of(clock.hosts().begin(), clock.hosts().end(), [&](const auto& entry) {
      return entry.second.slots_on > 0 && !failed_on.contains(entry.first);
    });
  };
}

const Held* StageState::find(UnitId id, HostId host) const {
  const Held* held = units.find(id);
  return held != nullptr && held->unit.host == host ? held : nullptr;
}

Held* StageState::find(UnitId id, HostId host) {
  Held* held = units.find(id);
  return held != nullptr && held->unit.host == host ? held : nullptr;
}

void StageState::decide(Changes& changes, Timestamp now, HostId host, UnitId unit, const char* kind,
                        Range range, std::string reason) const {
  if (setup.explain) changes.decisions.push_back({now, host, unit, kind, range, std::move(reason)});
}

}  // namespace gleaner::policy
