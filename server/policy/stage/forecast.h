// Where each holder is and when its unit ends, and the groups of units in order of that: live ones by their
// end, stalled ones by when they began to be. Ends are kept as points in time, so that they stay in order
// between two reports. Internal to the module. [server/policy/POLICY.md, "When a unit ends"]
#pragma once

#include <boost/intrusive/list.hpp>
#include <map>

#include "server/policy/costs/item_costs.h"
#include "server/policy/hosts/host_clock.h"

namespace gleaner::policy {

class Forecast {
 public:
  using Order = std::map<std::pair<Timestamp, UnitId>, Group*>;

  // Both must outlive it.
  Forecast(const Costs& costs, const ItemCosts& items) : costs_(&costs), items_(&items) {}

  // ---- What is known
  // By their end: up to date after settle(). Only the endgame looks.
  [[nodiscard]] const Order& live() const { return live_; }
  [[nodiscard]] std::size_t groups() const { return live_groups_ + stalled_.size(); }  // live and stalled
  [[nodiscard]] const Order& stalled() const { return stalled_; }
  [[nodiscard]] double stalled_cost() const { return stalled_cost_; }  // what is left of those
  [[nodiscard]] double work_done(const Held& held, Timestamp at) const;
  [[nodiscard]] static double seconds_left(const Held& held, Timestamp now);
  [[nodiscard]] static double seconds_left(const Group& group, Timestamp now);  // the first live one's
  // Until it has ended the items before `end` of its unit.
  [[nodiscard]] double seconds_to(const Held& held, std::int64_t end, Timestamp now) const;
  // The group's live member that ends first; null: all stall.
  [[nodiscard]] static const Held* first_to_end(const Group& group);

  // ---- What changes
  // All units of a slot, one after the other.
  void estimate(Slot& slot, const Fleet& fleet, Timestamp now);
  void index(Group& group);    // anew: its members are others, or live or stall
  void unindex(Group& group);  // until index()
  void settle();

 private:
  void estimate(Held& held, const Fleet& fleet, Timestamp now);
  void settle_place(Held& held);
  void note_moved(Group& group);

  const Costs* costs_;
  const ItemCosts* items_;
  Order live_, stalled_;
  // Live groups whose end is another one: only the endgame looks, and most ends are estimated many times
  // before.
  boost::intrusive::list<Group, boost::intrusive::member_hook<Group, decltype(Group::moved), &Group::moved>,
                         boost::intrusive::constant_time_size<false>>
      moved_;
  std::size_t live_groups_ = 0;
  double stalled_cost_ = 0;
};

}  // namespace gleaner::policy
