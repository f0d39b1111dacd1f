// The units of a stage: open ones, closed ones for a while (late results of returning hosts), and the groups
// of open units that compute the same items. Places of what it holds do not move. Internal to the module.
#pragma once

#include <deque>
#include <map>
#include <unordered_map>

#include "server/policy/hosts/held.h"

namespace gleaner::policy {

class Units {
 public:
  // Of the closed ones so many stay known.
  explicit Units(std::size_t closed_max = 50'000) : closed_max_(closed_max) {}

  [[nodiscard]] const std::unordered_map<UnitId, Held>& open() const { return open_; }
  [[nodiscard]] const std::unordered_map<UnitId, KnownUnit>& closed() const { return closed_; }
  [[nodiscard]] const std::map<UnitId, Group>& groups() const { return groups_; }
  [[nodiscard]] bool known(UnitId id) const { return open_.contains(id) || closed_.contains(id); }
  [[nodiscard]] const KnownUnit* find(UnitId id) const;  // open or closed; null: not known
  [[nodiscard]] const Held& at(UnitId id) const { return open_.at(id); }
  [[nodiscard]] const Group* group(UnitId id) const;  // null: nobody computes it any more
  [[nodiscard]] std::vector<UnitId> open_by_id() const;

  [[nodiscard]] KnownUnit* find(UnitId id);
  [[nodiscard]] Held* find_open(UnitId id);  // null: it is not open
  [[nodiscard]] Held& at(UnitId id) { return open_.at(id); }
  Held& open(Held made);
  void remember(KnownUnit closed);
  void close(Held& held);  // it is gone then, and what stays of it remembered; forgets the oldest closed ones
  // Into the group of its `unit.group`, which is made if need be; out of it. An empty group is erased by
  // forget().
  Group& join(Held& held);
  static void leave(Held& held);
  void forget(UnitId group) { groups_.erase(group); }

 private:
  std::size_t closed_max_;
  std::unordered_map<UnitId, Held> open_;
  std::unordered_map<UnitId, KnownUnit> closed_;
  std::deque<UnitId> closed_order_;
  std::map<UnitId, Group> groups_;
};

[[nodiscard]] inline bool is_copy(UnitKind kind) {
  return kind == UnitKind::copy || kind == UnitKind::flood;
}
[[nodiscard]] bool holds_any(const Group& group, HostId host);

}  // namespace gleaner::policy
