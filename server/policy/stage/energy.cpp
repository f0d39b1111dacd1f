// Of several idle hosts that would end a piece of work as soon, the one that draws least for it computes it:
// a slot that asks is passed over where another idle slot, due to ask, ends the piece no later and draws
// clearly less. That matters where there are more idle slots than pieces: the last free items, what stalled
// holders keep, splits and copies. What a slot draws is its owner's word; who said nothing is not waited for
// and does not wait. Not in the specification; off-switch: save_energy.
#include <algorithm>

#include "server/policy/stage/state.h"

namespace gleaner::policy {
namespace {

// Worth waiting for: at most this part of what the slot that asks would draw.
constexpr double thrifty_share = 0.9;
// Where no rate is known, so long: hosts that wait ask every five seconds, later less often
// (service/work.cpp).
constexpr double first_patience = 10;
// Idle slots looked at for one that should have a piece of a unit.
constexpr int slots_looked_at = 64;
// Slots and hosts looked at for as many as there are free items; where more are free nobody is passed over.
constexpr std::size_t counted = 1024;

}  // namespace

// Hint units a second; where nobody's rate is known yet, benchmarks, which compare hosts as well.
double StageState::speed_of(const HostRecord& record) const {
  const double rate = fleet.rate(record);
  return rate > 0 ? rate : record.performance;
}

double StageState::draw_of(const Host& host) const {
  const double speed = speed_of(host.record);
  return host.watts > 0 && speed > 0 ? host.watts / speed : 0;
}

void StageState::expect(const std::vector<IdleHost>& idle) {
  if (!setup.rules.save_energy) return;
  expected = idle;
  std::erase_if(expected, [](const IdleHost& host) { return !(host.watts > 0 && host.performance > 0); });
  std::stable_sort(expected.begin(), expected.end(), [](const IdleHost& a, const IdleHost& b) {
    return a.watts / a.performance < b.watts / b.performance;
  });
  if (expected.size() > counted) expected.resize(counted);
}

void StageState::has_asked(const Requester& requester, Slot& slot) {
  left_to_thriftier = false;
  slot.host->watts = requester.watts;
  unlist_draw(slot);
  std::erase_if(expected, [&](const IdleHost& host) { return host.host == requester.host; });
}

void StageState::waits_until(Slot& slot, Timestamp asks_at) {
  if (!setup.rules.save_energy || !slot.idle) return;
  slot.asks_at = asks_at;
  slot.kept_for = {};
  slot.draw = draw_of(*slot.host);
  if (slot.draw > 0) idle_by_draw.insert({slot.draw, slot.key});
}

void StageState::unlist_draw(Slot& slot) {
  if (slot.draw > 0) idle_by_draw.erase({slot.draw, slot.key});
  slot.draw = 0;
}

// While there are as many thriftier slots as free items, the items are theirs.
bool StageState::leave_free_to_thriftier(const Requester& requester, Timestamp now) {
  const Host& host = hosts.at(requester.host);
  const double mine = draw_of(host);
  if (!setup.rules.save_energy || mine <= 0 || free.empty()) return false;
  if (free.total() > static_cast<std::int64_t>(counted)) return false;
  const double speed = speed_of(host.record);
  const double work = free_cost / static_cast<double>(free.total());
  const bool known = fleet.rate(host.record) > 0;
  const double patience = known ? pace().gain_minimum : first_patience;
  // Where no rate is known, who is as fast needs no longer, whatever it takes.
  const auto as_soon = [&](double other, Timestamp asks_at) {
    const double wait = seconds_between(now, asks_at);
    if (wait < 0 || wait > patience) return false;
    return known ? wait + work / other <= work / speed + patience : other >= speed;
  };
  std::int64_t thriftier = 0;
  std::size_t looked = 0;
  for (const auto& [draw, key] : idle_by_draw) {
    if (draw > thrifty_share * mine || thriftier >= free.total() || ++looked > counted) break;
    const Slot& other = slots.at(key);
    if (key.first != requester.host && as_soon(speed_of(other.host->record), other.asks_at)) ++thriftier;
  }
  for (const IdleHost& other : expected) {
    if (thriftier >= free.total()) break;
    HostRecord record;
    record.performance = other.performance;
    const double other_speed = speed_of(record);
    if (other.watts / other_speed > thrifty_share * mine) break;
    if (as_soon(other_speed, other.asks_at)) thriftier += other.slots;
  }
  left_to_thriftier = thriftier >= free.total();
  return left_to_thriftier;
}

// `work`: what the slot that asks would compute of the group.
bool StageState::leave_to_thriftier(const Requester& requester, UnitId group, double work, Timestamp now) {
  const Host& host = hosts.at(requester.host);
  const double mine = draw_of(host), rate = fleet.rate(host.record);
  if (!setup.rules.save_energy || mine <= 0 || rate <= 0) return false;
  int looked = 0;
  for (const auto& [draw, key] : idle_by_draw) {
    if (draw > thrifty_share * mine || ++looked > slots_looked_at) break;
    Slot& other = slots.at(key);
    if (key.first == requester.host || holds_any(groups.at(group), key.first)) continue;
    if (other.kept_for.valid() && other.kept_for != group) continue;
    const double wait = seconds_between(now, other.asks_at);
    if (wait < 0 || wait + work / fleet.rate(other.host->record) > work / rate) continue;
    other.kept_for = group;
    left_to_thriftier = true;
    return true;
  }
  return false;
}

}  // namespace gleaner::policy
