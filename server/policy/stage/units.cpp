#include "server/policy/stage/units.h"

#include <algorithm>

namespace gleaner::policy {

const KnownUnit* Units::find(UnitId id) const {
  if (const auto found = open_.find(id); found != open_.end()) return &found->second;
  const auto found = closed_.find(id);
  return found == closed_.end() ? nullptr : &found->second;
}

KnownUnit* Units::find(UnitId id) {
  return const_cast<KnownUnit*>(std::as_const(*this).find(id));  // NOLINT: the object itself is not const
}

Held* Units::find_open(UnitId id) {
  const auto found = open_.find(id);
  return found == open_.end() ? nullptr : &found->second;
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

void Units::remember(KnownUnit closed) {
  const UnitId id = closed.unit.id;
  closed_order_.push_back(id);
  closed_.emplace(id, std::move(closed));
}

void Units::close(Held& held) {
  const UnitId id = held.unit.id;
  remember(std::move(held));
  open_.erase(id);
  while (closed_.size() > closed_max_) {
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
  auto& members = held.group->members;
  members.erase(std::find(members.begin(), members.end(), &held));
  held.group = nullptr;
}

bool holds_any(const Group& group, HostId host) {
  return std::any_of(group.members.begin(), group.members.end(),
                     [&](const Held* member) { return member->unit.host == host; });
}

}  // namespace gleaner::policy
