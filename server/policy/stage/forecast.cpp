#include "server/policy/stage/forecast.h"

#include <algorithm>
#include <cmath>

namespace gleaner::policy {

const Held* Forecast::first_to_end(const Group& group) {
  const Held* first = nullptr;
  for (const Held* held : group.members) {
    if (held->live() && (first == nullptr || held->estimate.end < first->estimate.end)) first = held;
  }
  return first;
}

void Forecast::estimate(Held& held, const Fleet& fleet, Timestamp now) {
  const Unit& unit = held.unit;
  Estimate& estimate = held.estimate;
  const std::int64_t position = std::clamp(unit.finished, unit.range.begin, unit.range.end);
  const double rate = fleet.rate(held.host->record);
  estimate.at = now;
  estimate.rate = rate > 0 ? rate : unit.rate_minute;
  estimate.done_cost = costs_->before(position);
  const double end_cost = costs_->before(unit.range.end);
  if (estimate.rate <= 0) {
    // Nothing is known of anybody: it may well need as long again as it has been at it.
    estimate.rate = std::max(end_cost - estimate.done_cost, 1e-9) / std::max(1.0, held.meter.seconds);
  }
  if (held.told_end != Timestamp::min()) {
    estimate.end = std::max(now, held.told_end);
    estimate.done_cost =
        std::max(estimate.done_cost, end_cost - estimate.rate * seconds_between(now, estimate.end));
    return settle_place(held);
  }
  if (position < unit.range.end) {
    const double hint = costs_->of({position, position + 1});
    estimate.done_cost += hint - items_->left(held, position, estimate.rate);
  }
  const double seconds = std::max(0.0, end_cost - estimate.done_cost) / estimate.rate;
  estimate.end = later(std::max(now, estimate.starts), seconds);
  settle_place(held);
}

// Its group's, after its end may have moved.
void Forecast::settle_place(Held& held) {
  Group* group = held.group;
  if (group == nullptr) return;
  if (!group->live || !held.live()) return index(*group);
  note_moved(*group);
}

void Forecast::estimate(Slot& slot, const Fleet& fleet, Timestamp now) {
  Timestamp starts = now;
  for (Held* held : slot.units) {
    held->estimate.starts = starts;
    estimate(*held, fleet, now);
    starts = std::max(starts, held->estimate.end);
  }
}

double Forecast::work_done(const Held& held, Timestamp at) const {
  const Estimate& estimate = held.estimate;
  const Timestamp from = std::max(estimate.at, estimate.starts);
  const double ran = held.live() ? std::max(0.0, seconds_between(from, at)) : 0;
  return std::min(estimate.done_cost + ran * estimate.rate, costs_->before(held.unit.range.end));
}

double Forecast::seconds_left(const Held& held, Timestamp now) {
  return std::max(0.0, seconds_between(now, held.estimate.end));
}

double Forecast::seconds_to(const Held& held, std::int64_t end, Timestamp now) const {
  if (held.unit.finished >= end) return 0;
  const double beyond = costs_->of({end, held.unit.range.end}) / held.estimate.rate;
  return std::max(0.0, seconds_between(now, held.estimate.end) - beyond);
}

double Forecast::seconds_left(const Group& group, Timestamp now) {
  const Held* first = first_to_end(group);
  return first == nullptr ? -1 : seconds_left(*first, now);
}

// ---- Order

void Forecast::note_moved(Group& group) {
  if (!group.moved.is_linked()) moved_.push_back(group);
}

void Forecast::unindex(Group& group) {
  if (group.live) {
    --live_groups_;
    if (group.listed) live_.erase({group.key, group.id});
    group.listed = false;
  } else {
    stalled_.erase({group.key, group.id});
    stalled_cost_ -= group.stalled_rest;
    if (stalled_.empty()) stalled_cost_ = 0;
  }
  group.live = false;
  group.key = Timestamp::min();
  group.stalled_rest = 0;
}

void Forecast::index(Group& group) {
  unindex(group);
  if (first_to_end(group) != nullptr) {
    group.live = true;
    ++live_groups_;
    note_moved(group);
    return;
  }
  for (const Held* held : group.members) {
    group.key = std::max(group.key, held->watch.stalled_since);
    group.stalled_rest =
        std::max(group.stalled_rest,
                 costs_->of({std::max(held->unit.range.begin, held->unit.committed), held->unit.range.end}));
  }
  stalled_.emplace(std::pair(group.key, group.id), &group);
  stalled_cost_ += group.stalled_rest;
}

void Forecast::settle() {
  while (!moved_.empty()) {
    Group& group = moved_.front();
    moved_.pop_front();
    const Held* first = first_to_end(group);
    if (!group.live || first == nullptr) continue;
    if (!group.listed) {
      group.listed = true;
      group.key = first->estimate.end;
      live_.emplace(std::pair(group.key, group.id), &group);
    } else if (first->estimate.end != group.key) {
      auto entry = live_.extract({group.key, group.id});
      entry.key().first = group.key = first->estimate.end;
      live_.insert(std::move(entry));
    }
  }
}

}  // namespace gleaner::policy
