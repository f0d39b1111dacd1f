#include "server/policy/stage/units.h"

#include <algorithm>

namespace gleaner::policy {
namespace {

constexpr std::size_t closed_units_max = 50'000;

}  // namespace

const Held* Units::find(UnitId id) const {
  for (const auto* units : {&open_, &closed_}) {
    if (const auto found = units->find(id); found != units->end()) return &found->second;
  }
  return nullptr;
}

Held* Units::find(UnitId id) {
  return const_cast<Held*>(std::as_const(*this).find(id));  // NOLINT: the object itself is not const
}

const Group* Units::group(UnitId id) const {
  const auto found = groups_.find(id);
  return found == groups_.end() ? nullptr : &found->second;
}

std::vector<UnitId> Units::open_by_id() const {
  std::vector<UnitId> ids;
  ids.reserve(open_.size());
  for (const auto& [id, held] : open_) ids.push_back(id);
  std::sort(ids.begin(), ids.end());
  return ids;
}

Held& Units::open(Held made) {
  const UnitId id = made.unit.id;
  return open_.emplace(id, std::move(made)).first->second;
}

void Units::remember(Held held) {
  const UnitId id = held.unit.id;
  closed_order_.push_back(id);
  closed_.emplace(id, std::move(held));
}

void Units::close(Held& held) {
  const UnitId id = held.unit.id;
  closed_.insert(open_.extract(id));
  closed_order_.push_back(id);
  while (closed_.size() > closed_units_max) {
    closed_.erase(closed_order_.front());
    closed_order_.pop_front();
  }
}

Group& Units::join(Held& held) {
  Group& group = groups_[held.unit.group];
  group.id = held.unit.group;
  const auto place = std::lower_bound(group.members.begin(), group.members.end(), &held,
                                      [](const Held* a, const Held* b) { return a->unit.id < b->unit.id; });
  group.members.insert(place, &held);
  held.group = &group;
  return group;
}

void Units::leave(Held& held) {
  std::erase(held.group->members, &held);
  held.group = nullptr;
}

bool holds_any(const Group& group, HostId host) {
  return std::any_of(group.members.begin(), group.members.end(),
                     [&](const Held* member) { return member->unit.host == host; });
}

}  // namespace gleaner::policy
