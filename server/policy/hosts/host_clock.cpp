#include "server/policy/hosts/host_clock.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "shared/base/check.h"

namespace gleaner::policy {
namespace {

// The first with that number or a greater one.
template <typename Slots>
auto place_of(Slots& slots, int number) {
  return std::lower_bound(slots.begin(), slots.end(), number,
                          [](const auto& known, int sought) { return known->number < sought; });
}

}  // namespace

const Host* HostClock::find(HostId id) const {
  const auto found = hosts_.find(id);
  return found == hosts_.end() ? nullptr : &found->second;
}

bool HostClock::only_delivery_missing(const Held& held, Timestamp now, const EndgameRules& rules) {
  const Watch& watch = held.watch;
  return !watch.silent && now < later(std::min(watch.finished_at, now), 2 * rules.silence(rules.heartbeat)) &&
         watch.finished_at != Timestamp::max();
}

void HostClock::restore(const HostRecord& record) {
  Host& restored = hosts_[record.host];
  restored.record = record;
  restored.listed = fleet_.add(restored.record, 0);
}

Host& HostClock::host(HostId id) {
  const auto [place, fresh] = hosts_.try_emplace(id);
  Host& added = place->second;
  if (!fresh) return added;
  added.record.host = id;
  added.listed = fleet_.add(added.record, 0);
  return added;
}

const Slot* HostClock::find(const SlotKey& key) const {
  const Host* of = find(key.first);
  if (of == nullptr) return nullptr;
  const auto place = place_of(of->slots, key.second);
  return place != of->slots.end() && (*place)->number == key.second ? place->get() : nullptr;
}

Slot& HostClock::slot(const SlotKey& key) {
  Host& of = host(key.first);
  const auto place = place_of(of.slots, key.second);
  if (place != of.slots.end() && (*place)->number == key.second) return **place;
  auto slot = std::make_unique<Slot>();
  slot->host = &of;
  slot->number = key.second;
  return **of.slots.insert(place, std::move(slot));
}

// ---- What was heard

void HostClock::asked(Slot& slot, Timestamp now, const EndgameRules& rules) {
  slot.off_at = later(now, std::max(rules.silence(rules.heartbeat), 2 * rules.park + 1));
  off_.set(slot.off, slot, slot.off_at);
  update(slot, now);
}

bool HostClock::heard(Held& held, Timestamp now, double heartbeat, const EndgameRules& rules) {
  Watch& watch = held.watch;
  HostRecord& record = held.host->record;
  const bool was_silent = watch.silent;
  if (was_silent) {
    watch.silent = false;
    silent_.erase({held.unit.deadline, held.unit.id});
    held.meter.at = now;  // it was off, or cut off: no on-time that we know of
    change(*held.host, [](Host& host) { ++host.record.interruptions; });
  }
  const double gap = seconds_between(record.last_contact, now);
  if (gap > 0 && gap < 2 * rules.silence(rules.heartbeat)) record.on_seconds += gap;
  record.last_contact = now;
  if (!held.slot->units.empty() && held.slot->units.front() == &held)
    held.meter.seen_seconds +=
        std::clamp(seconds_between(held.unit.last_contact, now), 0.0, 2 * rules.silence(rules.heartbeat));
  held.unit.last_contact = now;
  held.unit.deadline = later(now, rules.lease);
  watch.told_contact = later(now, heartbeat);
  silence_.set(watch.silence, held, later(now, rules.silence(heartbeat)));
  asked(*held.slot, now, rules);
  return was_silent;
}

void HostClock::delivered(Host& host, std::int64_t items, double cost) {
  HostRecord& record = host.record;
  if (record.items_accepted == 0 && items > 0) fleet_.proves(host.slots_on);
  record.items_accepted += items;
  record.cost_accepted += cost;
}

void HostClock::left(Slot& slot, Timestamp now) {
  off_.remove(slot.off);
  slot.off_at = Timestamp::min();
  update(slot, now);
}

void HostClock::update(Slot& slot, Timestamp now) {
  const bool stalled = !slot.units.empty() && !slot.units.front()->live();
  const bool on = now < slot.off_at && !stalled;
  slot.idle = on && slot.units.empty();
  const bool busy = on && !slot.idle;
  if (!slot.idle) stops_waiting(slot);
  if (on == slot.on && busy == slot.busy) return;
  change(*slot.host, [&](Host& host) {
    host.slots_on += (on ? 1 : 0) - (slot.on ? 1 : 0);
    host.slots_busy += (busy ? 1 : 0) - (slot.busy ? 1 : 0);
  });
  slot.on = on;
  slot.busy = busy;
}

void HostClock::waits(Slot& slot, Timestamp asks_at, double joules) {
  slot.asks_at = asks_at;
  slot.kept_for = {};
  slot.joules = joules;
  if (joules > 0) idle_by_joules_.insert({joules, slot.key()});
}

void HostClock::stops_waiting(Slot& slot) {
  if (slot.joules > 0) idle_by_joules_.erase({slot.joules, slot.key()});
  slot.joules = 0;
}

// ---- What time brings

Held* HostClock::next_silent(Timestamp now) {
  Held* held = silence_.next(now);
  if (held == nullptr) return nullptr;
  held->watch.silence = no_deadline;
  held->watch.silent = true;
  silent_.insert({{held->unit.deadline, held->unit.id}, held});
  return held;
}

void HostClock::slots_off(Timestamp now) {
  while (Slot* slot = off_.next(now)) {
    slot->off = no_deadline;
    update(*slot, now);
  }
}

Held* HostClock::next_expired(Timestamp now) const {
  return silent_.empty() || silent_.begin()->first.first > now ? nullptr : silent_.begin()->second;
}

void HostClock::forget(Held& held) {
  if (held.watch.silent) silent_.erase({held.unit.deadline, held.unit.id});
  silence_.remove(held.watch.silence);
}

// ---- Rates

bool HostClock::measure(Held& held, double cost, bool ended, const EndgameRules& rules) {
  Meter& meter = held.meter;
  // On-time up to the last finished item: all of it at the end of a unit, else without the item in progress.
  const bool believed = !held.host->stranger;
  const double item_seconds = believed ? held.unit.item_seconds : 0;
  const double on_time = believed ? meter.seconds : std::max(meter.seconds, meter.seen_seconds);
  const double seconds = ended ? on_time : on_time - item_seconds;
  const double new_cost = cost - meter.measured_cost;
  // Pauses count, but one longer than the memory says nothing of how fast the host is once it computes again.
  const double paused = meter.paused_seconds - meter.measured_paused_seconds;
  const double forgotten = believed ? std::max(0.0, paused - rules.rate_memory) : 0;
  const double new_seconds = seconds - meter.measured_seconds - forgotten;
  if (new_cost <= 0 || new_seconds <= 0) return false;
  // What is left of a clock after a long item in progress is a small difference of two reports.
  if (!ended && item_seconds > new_seconds) return false;
  meter.measured_cost = cost;
  meter.measured_seconds = seconds;
  meter.measured_paused_seconds = meter.paused_seconds;
  return measured(*held.host, new_cost, new_seconds, rules);
}

bool HostClock::measured(Host& host, double cost, double seconds, const EndgameRules& rules) {
  host.pending_cost += cost;
  host.pending_seconds += seconds;
  change(host, [&](Host& changed) { changed.record.times.add_piece(cost, seconds); });
  if (host.pending_seconds < numbers::measured * rules.unit_minimum) return false;
  const double promised = fleet_.promised_rate(host.record);
  const double most = promised > 0 ? numbers::believable * promised : std::numeric_limits<double>::infinity();
  change(host, [&](Host& changed) {
    HostRecord& record = changed.record;
    const double on_time = changed.pending_seconds;
    record.measured_seconds += on_time;
    const double weight =
        std::max(1 - std::exp(-on_time / rules.rate_memory), on_time / record.measured_seconds);
    record.rate += weight * (std::min(changed.pending_cost / on_time, most) - record.rate);
    changed.pending_cost = changed.pending_seconds = 0;
  });
  return true;
}

void HostClock::check(std::size_t open_units) const {
  CHECK_TRUE(silent_.size() + silence_.size() == open_units);
  std::int64_t on = 0;
  for (const auto& [id, host] : hosts_) on += host.slots_on;
  CHECK_TRUE(on == fleet_.slots_on());
  for (const auto& [joules, key] : idle_by_joules_)
    CHECK_TRUE(find(key) != nullptr && find(key)->idle && find(key)->joules == joules);
}

}  // namespace gleaner::policy
