#include "server/policy/rules/rules.h"

#include <algorithm>
#include <cmath>

namespace gleaner::policy {
namespace {

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
  paced.heartbeat_late = shortened(seconds / 40, 1.5, rules.heartbeat_late);
  paced.gain_minimum = shortened(seconds / 400, 0.1, rules.gain_minimum);
  paced.unit_minimum = shortened(seconds / 60, 0.5, rules.unit_minimum);
  // In short stages the loss of a whole uncommitted unit would show; long ones rather save requests.
  paced.unit_maximum = shortened(std::max(seconds / 20, seconds / 4 - 110), 1, rules.unit_maximum);
  paced.park = shortened(seconds / 100, 0.25, rules.park);
  paced.request_delay = shortened(seconds / 400, 0.05, rules.request_delay);
  return paced;
}

}  // namespace gleaner::policy
