#include "server/policy/stage/energy_filter.h"

#include <algorithm>

#include "server/policy/stage/units.h"

namespace gleaner::policy {
namespace {

// Slots and hosts looked at for as many as there are free items; where more are free nobody is passed over.
constexpr std::size_t counted = 1024;

}  // namespace

// Hint units a second; where nobody's rate is known yet, benchmarks, which compare hosts as well.
double EnergyFilter::speed_of(const HostRecord& record) const {
  const double rate = clock_->fleet().rate(record);
  return rate > 0 ? rate : record.performance;
}

// For a hint unit; 0: its owner did not say what it draws.
double EnergyFilter::joules_of(const Host& host) const {
  const double speed = speed_of(host.record);
  return host.watts > 0 && speed > 0 ? host.watts / speed : 0;
}

void EnergyFilter::expect(const std::vector<IdleHost>& idle) {
  expected_ = idle;
  std::erase_if(expected_, [](const IdleHost& host) { return !(host.watts > 0 && host.performance > 0); });
  std::stable_sort(expected_.begin(), expected_.end(), [](const IdleHost& a, const IdleHost& b) {
    return a.watts / a.performance < b.watts / b.performance;
  });
  if (expected_.size() > counted) expected_.resize(counted);
}

void EnergyFilter::asks(const Requester& requester, Slot& slot) {
  if (slot.host->watts != requester.watts)
    clock_->change(*slot.host, [&](Host& host) { host.watts = requester.watts; });
  clock_->stops_waiting(slot);
  std::erase_if(expected_, [&](const IdleHost& host) { return host.host == requester.host; });
}

void EnergyFilter::waits(Slot& slot, Timestamp asks_at) {
  if (slot.idle) clock_->waits(slot, asks_at, joules_of(*slot.host));
}

bool EnergyFilter::keeps_free(HostId id, const Ledger& ledger, const EndgameRules& rules,
                              Timestamp now) const {
  const Host& host = *clock_->find(id);
  const double mine = joules_of(host);
  const std::int64_t free = ledger.free().total();
  if (mine <= 0 || free == 0 || free > static_cast<std::int64_t>(counted)) return false;
  const double speed = speed_of(host.record);
  const double work = ledger.free_cost() / static_cast<double>(free);
  const bool known = clock_->fleet().rate(host.record) > 0;
  const double patience = known ? rules.gain_minimum : EndgameRules{}.park;
  // Where no rate is known, who is as fast needs no longer, whatever it takes.
  const auto as_soon = [&](double other, Timestamp asks_at) {
    const double wait = seconds_between(now, asks_at);
    if (wait < 0 || wait > patience) return false;
    return known ? wait + work / other <= work / speed + patience : other >= speed;
  };
  std::int64_t better = 0;
  std::size_t looked = 0;
  for (const auto& [joules, key] : clock_->idle_by_joules()) {
    if (joules > numbers::clearly * mine || better >= free || ++looked > counted) break;
    const Slot& other = *clock_->find(key);
    if (key.first != id && as_soon(speed_of(other.host->record), other.asks_at)) ++better;
  }
  for (const IdleHost& other : expected_) {
    if (better >= free) break;
    HostRecord record;
    record.performance = other.performance;
    const double other_speed = speed_of(record);
    if (other.watts / other_speed > numbers::clearly * mine) break;
    if (as_soon(other_speed, other.asks_at)) better += other.slots;
  }
  return better >= free;
}

bool EnergyFilter::keeps(HostId id, const Group& group, double work, Timestamp now) {
  const Host& host = *clock_->find(id);
  const double mine = joules_of(host), rate = clock_->fleet().rate(host.record);
  if (mine <= 0 || rate <= 0) return false;
  int looked = 0;
  for (const auto& [joules, key] : clock_->idle_by_joules()) {
    if (joules > numbers::clearly * mine || ++looked > numbers::looked_at) break;
    const Slot& other = *clock_->find(key);
    if (key.first == id || holds_any(group, key.first)) continue;
    if (other.kept_for.valid() && other.kept_for != group.id) continue;
    const double wait = seconds_between(now, other.asks_at);
    if (wait < 0 || wait + work / clock_->fleet().rate(other.host->record) > work / rate) continue;
    clock_->keep_for(key, group.id);
    return true;
  }
  return false;
}

}  // namespace gleaner::policy
