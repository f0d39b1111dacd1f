// What the stage believes of its holders: how fast each is (R1), where it is now, when its unit ends (R5),
// and who is on at all. Ends are kept as points in time, so that they stay in order between two reports.
#include <algorithm>
#include <cmath>
#include <limits>

#include "server/policy/stage/state.h"

namespace gleaner::policy {
namespace {

// A stage of unknown length is paced as one of so many seconds: reports come soon, and with them rates.
constexpr double unknown_length = 200;
// R5: from here on the hint of the item in progress is not believed any more; it then needs
// `expected_more` of what it took.
constexpr double hint_share_believed = 0.9;
// An item in progress for so many times its hint counts as standing still where no rate is reported (2 %).
constexpr double still_factor = 50;
// A host that has spent so many times an item's proven cost on it is slow, not the item long.
constexpr double doubt_factor = 4;
// R1: on-time that one measurement takes, in shortest units; less for a host of unknown rate.
constexpr double first_measured = 1.0 / 60, next_measured = 0.5;
// A measured rate so far above what the host's benchmark promises is a mistake, or a lie to get work.
constexpr double believable = 16;

}  // namespace

EndgameRules StageState::pace() const {
  const double rate = fleet.rate_on();
  const double length = rate > 0 ? costs.total() / rate : unknown_length;
  if (length != paced_for) {
    paced_for = length;
    paced_rules = paced(setup.rules, length);
  }
  return paced_rules;
}

double StageState::heartbeat(const EndgameRules& rules) const {
  return free.empty() ? rules.heartbeat_endgame : rules.heartbeat;
}

Host& StageState::host_of(HostId id) {
  const auto found = hosts.find(id);
  if (found != hosts.end()) return found->second;
  Host host;
  host.record.host = id;
  Host& added = hosts.emplace(id, std::move(host)).first->second;
  fleet.add(added.record, 0);
  return added;
}

// ---- Who is on

Slot& StageState::slot_of(const SlotKey& key) {
  const auto [found, made] = slots.try_emplace(key);
  Slot& slot = found->second;
  if (made) {
    slot.key = key;
    slot.host = &host_of(key.first);
    std::vector<int>& known = slot.host->slots;
    known.insert(std::lower_bound(known.begin(), known.end(), key.second), key.second);
  }
  return slot;
}

void StageState::contact_slot(Slot& slot, Timestamp now) {
  const EndgameRules rules = pace();
  slot.off_at = later(now, std::max(rules.stall_silence, 2 * rules.park + 1));
  if (slot.off_at < slot.watched_from) {
    slots_by_off.erase({slot.watched_from, slot.key});
    slot.watched_from = slot.off_at;
    slots_by_off.insert({slot.off_at, slot.key});
  }
  update_slot(slot, now);
}

void StageState::update_slot(Slot& slot, Timestamp now) {
  const bool stalled = !slot.units.empty() && !slot.units.front()->live();
  const bool on = now < slot.off_at && !stalled;
  const bool idle = on && slot.units.empty();
  if (idle != slot.idle) idle_slots += idle ? 1 : -1;
  slot.idle = idle;
  if (!idle) unlist_draw(slot);
  if (on == slot.on) return;
  slot.on = on;
  change_host(*slot.host, [&](Host& host) { host.slots_on += on ? 1 : -1; });
}

void StageState::refresh(Timestamp now, Changes& changes) {
  while (setup.rules.see_stalls && !by_silence.empty() && by_silence.begin()->first <= now) {
    Held& held = open.at(by_silence.begin()->second);
    auto entry = by_silence.extract(by_silence.begin());
    if (held.stall_at != held.watched_from) {  // heard of since
      entry.value().first = held.watched_from = held.stall_at;
      by_silence.insert(std::move(entry));
      continue;
    }
    held.watched_from = Timestamp::max();
    held.silent = true;
    silent_units.insert({held.unit.deadline, held.unit.id});
    if (!held.stuck) mark_stalled(held, held.unit.last_contact);
    if (!free.empty()) continue;  // far from the end a silent holder just resumes
    decide(changes, now, held.unit.host, held.unit.id, "stall", held.unit.range,
           "nothing was heard of it in time");
  }
  while (!slots_by_off.empty() && slots_by_off.begin()->first <= now) {
    const SlotKey key = slots_by_off.begin()->second;
    auto entry = slots_by_off.extract(slots_by_off.begin());
    Slot& slot = slots.at(key);
    slot.watched_from = slot.off_at > now ? slot.off_at : Timestamp::max();
    if (slot.off_at > now) {
      entry.value().first = slot.off_at;
      slots_by_off.insert(std::move(entry));
    } else {
      update_slot(slot, now);
    }
  }
}

void StageState::mark_stalled(Held& held, Timestamp since) {
  held.stalled_since = since;
  vain = {};
  if (held.group != nullptr) index_group(*held.group);
  update_slot(*held.slot, since);
}

void StageState::unstall(Held& held, Timestamp now) {
  if (!held.silent) return;
  held.silent = false;
  silent_units.erase({held.unit.deadline, held.unit.id});
  held.clock_at = now;  // it was off, or cut off: no on-time that we know of
  change_host(*held.host, [](Host& host) { ++host.record.interruptions; });
  if (held.group != nullptr) index_group(*held.group);
}

void StageState::contact(Held& held, Timestamp now, const EndgameRules& rules) {
  Host& host = *held.host;
  unstall(held, now);
  const double gap = seconds_between(host.record.last_contact, now);
  if (gap > 0 && gap < 2 * rules.stall_silence) host.record.on_seconds += gap;
  host.record.last_contact = now;
  held.unit.last_contact = now;
  held.unit.deadline = later(now, rules.lease);
  held.told_contact = later(now, heartbeat(rules));
  held.stall_at = later(now, free.empty() ? rules.stall_silence_endgame : rules.stall_silence);
  if (held.stall_at < held.watched_from) {
    by_silence.erase({held.watched_from, held.unit.id});
    held.watched_from = held.stall_at;
    by_silence.insert({held.stall_at, held.unit.id});
  }
  contact_slot(*held.slot, now);
}

bool StageState::too_slow(const Held& held, const EndgameRules& rules) const {
  const Unit& unit = held.unit;
  const double rate = fleet.rate(held.host->record);
  if (rate <= 0 || unit.running_seconds < rules.unit_minimum / 2) return false;
  if (const double proven = proven_cost(unit.finished); proven > 0)
    return unit.item_seconds * rate > doubt_factor * proven;
  if (unit.rate_minute > 0) return unit.rate_minute <= rules.stall_rate * rate;
  // A rate of 0 may only say that one long item has not ended yet.
  if (unit.finished >= unit.range.end) return false;
  const double hint = costs.of({unit.finished, unit.finished + 1});
  return unit.item_seconds * rate > still_factor * hint && unit.item_seconds > rules.unit_minimum;
}

// ---- Where a holder is

double StageState::holder_rate(const Held& held) const {
  const Unit& unit = held.unit;
  const double rate = fleet.rate(held.host->record);
  return rate > 0 ? rate : unit.rate_minute;
}

void StageState::estimate(Held& held, Timestamp now) {
  const Unit& unit = held.unit;
  const std::int64_t position = std::clamp(unit.finished, unit.range.begin, unit.range.end);
  held.estimated_at = now;
  held.rate = holder_rate(held);
  held.done_cost = costs.before(position);
  const double end_cost = costs.before(unit.range.end);
  if (held.rate <= 0) {
    // Nothing is known of anybody: it may well need as long again as it has been at it.
    held.rate = std::max(end_cost - held.done_cost, 1e-9) / std::max(1.0, held.clock_seconds);
  }
  if (position < unit.range.end) {
    const double hint = costs.of({position, position + 1});
    const double spent = unit.item_seconds * held.rate;
    const double begun = begun_share(unit, position);
    const double share = held.item_share - begun;
    double rest = spent <= hint_share_believed * hint ? hint - spent : expected_more * spent;
    if (const double proven = proven_cost(position); proven > 0)
      rest = std::max(expected_more * spent, proven - spent);
    rest *= 1 - begun;
    if (share > 0) rest = (1 - held.item_share) * spent / share;
    held.done_cost += hint - rest;
  }
  const double seconds = std::max(0.0, end_cost - held.done_cost) / held.rate;
  held.expected_end = later(std::max(now, held.starts), seconds);
  if (held.group == nullptr) return;
  if (held.group->live && held.live()) {
    group_moved(*held.group);
  } else {
    index_group(*held.group);
  }
}

void StageState::estimate_slot(Slot& slot, Timestamp now) {
  Timestamp starts = now;
  for (Held* held : slot.units) {
    held->starts = starts;
    estimate(*held, now);
    starts = std::max(starts, held->expected_end);
  }
}

double StageState::work_done(const Held& held, Timestamp at) const {
  const Timestamp from = std::max(held.estimated_at, held.starts);
  const double ran = held.live() ? std::max(0.0, seconds_between(from, at)) : 0;
  return std::min(held.done_cost + ran * held.rate, costs.before(held.unit.range.end));
}

double StageState::seconds_left(const Held& held, Timestamp now) {
  return std::max(0.0, seconds_between(now, held.expected_end));
}

double StageState::seconds_left(const Group& group, Timestamp now) {
  double least = -1;
  for (const Held* held : group.members) {
    if (!held->live()) continue;
    const double left = seconds_left(*held, now);
    if (least < 0 || left < least) least = left;
  }
  return least;
}

// ---- R1

void StageState::measure(Held& held, const EndgameRules& rules, bool ended, Changes& changes) {
  Unit& unit = held.unit;
  // On-time up to the last finished item: all of it at the end of a unit, else without the item in progress.
  double seconds = held.clock_seconds;
  if (!ended) seconds -= unit.item_seconds;
  const std::int64_t position =
      std::clamp(unit.finished, unit.range.begin, std::max(unit.range.end, unit.committed));
  const double cost = costs.of({unit.range.begin, std::min(position, costs.items())});
  const double new_cost = cost - held.measured_cost;
  // Pauses count, but one longer than the memory says nothing of how fast the host is once it computes again.
  const double paused = held.paused_seconds - held.measured_paused_seconds;
  const double forgotten = std::max(0.0, paused - rules.rate_memory);
  const double new_seconds = seconds - held.measured_seconds - forgotten;
  if (new_cost <= 0 || new_seconds <= 0) return;
  // What is left of a clock after a long item in progress is a small difference of two reports.
  if (!ended && unit.item_seconds > new_seconds) return;
  held.measured_cost = cost;
  held.measured_seconds = seconds;
  held.measured_paused_seconds = held.paused_seconds;
  Host& host = *held.host;
  host.pending_cost += new_cost;
  host.pending_seconds += new_seconds;
  change_host(host, [&](Host& changed) { changed.record.times.add_piece(new_cost, new_seconds); });
  const bool unknown = host.record.rate <= 0;
  if (host.pending_seconds < rules.unit_minimum * (unknown ? first_measured : next_measured)) return;
  const double promised = fleet.promised_rate(host.record);
  const double most = promised > 0 ? believable * promised : std::numeric_limits<double>::infinity();
  change_host(host, [&](Host& changed) {
    HostRecord& record = changed.record;
    const double on_time = changed.pending_seconds;
    record.measured_seconds += on_time;
    const double weight =
        std::max(1 - std::exp(-on_time / rules.rate_memory), on_time / record.measured_seconds);
    const double measured = std::min(changed.pending_cost / on_time, most);
    record.rate += weight * (measured - record.rate);
    changed.pending_cost = changed.pending_seconds = 0;
  });
  changes.hosts.push_back(unit.host);
}

}  // namespace gleaner::policy
