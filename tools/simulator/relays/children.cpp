#include "tools/simulator/relays/children.h"

#include <algorithm>
#include <limits>

namespace gleaner::simulator {
namespace {

// Work is a sum of many small differences: an item counts as finished when so little of its unit is left to
// it, or less than what a sum that is counted from item 0 cannot tell.
constexpr double finished_share = 1e-9, untold_share = 8 * std::numeric_limits<double>::epsilon();

}  // namespace

Children::Children(const RelayWorld& world, const policy::Costs& costs, std::size_t begin, std::size_t end)
    : costs_(&costs) {
  children_.reserve(end - begin);
  std::size_t slots = 0, lively = 0;
  for (std::size_t i = begin; i < end; ++i) {
    slots += world.hosts[i].slots;
    lively += world.hosts[i].lively >= 0 ? 1 : 0;
  }
  slots_.resize(slots);
  lively_.reserve(lively);
  slots = 0;
  for (std::size_t i = begin; i < end; ++i) {
    const WorldHost& host = world.hosts[i];
    Child child;
    child.speed = host.speed;
    child.performance = host.performance;
    child.slots = host.slots;
    child.first_slot = static_cast<std::uint32_t>(slots);
    if (host.lively >= 0) {
      child.lively = static_cast<std::int32_t>(lively_.size());
      Lively& added = lively_.emplace_back(world.lively[static_cast<std::size_t>(host.lively)]);
      if (!added.trace.next(added.coming)) added.coming.at = Agenda::never;
    }
    slots += host.slots;
    performance_ += static_cast<double>(host.performance) * host.slots;
    children_.push_back(child);
  }
}

void Children::advance(Child& child, double now) {
  const double from = child.advanced_to;
  child.advanced_to = now;
  if (now <= from || !on(child)) return;
  const double speed = this->speed(child);
  ChildSlot* slots = slots_of(child);
  for (std::size_t i = 0; i < child.slots; ++i) {
    ChildSlot& slot = slots[i];
    if (slot.unit.id == 0) continue;
    const double seconds = now - std::max(from, slot.unit.starts_at);
    if (seconds <= 0) continue;
    slot.running += static_cast<float>(seconds);
    const double left = costs_->before(slot.unit.range.end) - slot.work;
    const double done = std::clamp(speed * seconds, 0.0, std::max(0.0, left));
    slot.work += done;
    child.work += done;
  }
}

bool Children::befall(Child& child, double now) {
  if (child.lively < 0) return false;
  Lively& lively = lively_[static_cast<std::size_t>(child.lively)];
  const bool was_on = lively.state.on();
  while (lively.coming.at <= now) {
    lively.state.apply(lively.coming);
    if (lively.coming.kind == HostEventKind::off) {  // the item in progress is lost
      ChildSlot* slots = slots_of(child);
      for (std::size_t i = 0; i < child.slots; ++i)
        if (slots[i].unit.id != 0) slots[i].work = costs_->before(finished(slots[i]));
    }
    if (lively.state.vanished || !lively.trace.next(lively.coming)) lively.coming.at = Agenda::never;
  }
  return !was_on && lively.state.on();
}

std::int64_t Children::finished(const ChildSlot& slot) const {
  const double own = slot.work - costs_->before(slot.unit.range.begin);
  const double slack = finished_share * (1 + own) + untold_share * slot.work;
  return std::clamp(costs_->item_at(slot.work + slack), slot.unit.range.begin, slot.unit.range.end);
}

double Children::seconds_left(const Child& child, const ChildSlot& slot) const {
  const double speed = this->speed(child);
  if (slot.unit.id == 0 || speed <= 0) return Agenda::never;
  const double left = std::max(0.0, costs_->before(slot.unit.range.end) - slot.work);
  return std::max(0.0, slot.unit.starts_at - child.advanced_to) + left / speed;
}

void Children::begin(Child& child, ChildSlot& slot, const ChildUnit& unit, double now) const {
  static_cast<void>(child);
  slot.unit = unit;
  slot.unit.starts_at = std::max(now, unit.starts_at);
  slot.work = costs_->before(unit.range.begin);
  slot.committed = unit.range.begin;
  slot.running = slot.at_commit = 0;
}

void Children::drop_waiting(ChildSlot& slot) {
  if (slot.next < 0) return;
  vacant_.push_back(slot.next);
  slot.next = -1;
}

void Children::next_unit(Child& child, ChildSlot& slot, double now) {
  if (const ChildUnit* next = waiting(slot)) {
    begin(child, slot, *next, now);
    drop_waiting(slot);
  } else {
    slot.unit = {};
  }
}

void Children::give(Child& child, ChildSlot& slot, const ChildUnit& unit, double now) {
  if (slot.unit.id == 0) return begin(child, slot, unit, now);
  if (vacant_.empty()) {
    vacant_.push_back(static_cast<std::int32_t>(waiting_.size()));
    waiting_.emplace_back();
  }
  slot.next = vacant_.back();
  vacant_.pop_back();
  waiting_[static_cast<std::size_t>(slot.next)] = unit;
}

double Children::work_done(double now) {
  double work = 0;
  for (Child& child : children_) {
    if (!child.gone) advance(child, now);
    work += child.work;
  }
  return work;
}

}  // namespace gleaner::simulator
