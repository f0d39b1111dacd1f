#include "server/policy/hosts/credit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace gleaner::policy {
namespace {

double taken_now(const Host& host, const EndgameRules& rules, Timestamp now) {
  return host.taken * std::exp2(-seconds_between(host.taken_at, now) / rules.unit_maximum);
}

}  // namespace

double credit(const Host& host, const Fleet& fleet, const EndgameRules& rules, Timestamp now) {
  if (!host.stranger) return std::numeric_limits<double>::infinity();
  const auto slots = static_cast<double>(std::max<std::size_t>(1, host.slots.size()));
  const double believed = rules.unit_minimum * fleet.rate(host.record) + host.record.cost_accepted / slots;
  const double left = 1 - 2 * taken_now(host, rules, now) / slots;
  // The least that is more than nothing: one item.
  return left > 0 ? std::max(left * believed, std::numeric_limits<double>::min()) : 0;
}

bool may_hold_more(const Host& host, const Slot& slot, const Fleet& fleet, const EndgameRules& rules) {
  if (!host.stranger) return true;
  const int of_slot = host.record.items_accepted > 0 ? numbers::slot_units : 1;
  if (slot.units.size() >= static_cast<std::size_t>(of_slot)) return false;
  const double shortest = rules.unit_minimum * fleet.rate(host.record);
  const double delivered = shortest > 0 ? host.record.cost_accepted / shortest : 0;
  return static_cast<double>(host.units_open) < numbers::newcomer_units + delivered;
}

void note_taken(Held& held, const EndgameRules& rules, Timestamp now) {
  if (std::exchange(held.taken_over, true)) return;
  Host& host = *held.host;
  host.taken = taken_now(host, rules, now) + 1;
  host.taken_at = now;
}

}  // namespace gleaner::policy
