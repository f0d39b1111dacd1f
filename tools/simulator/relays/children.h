// The hosts of one node of a tree, a few dozen bytes each: units in hand, progress by piecewise constant
// speed. When a slot asks for its next unit is decided by client/policy. Internal.
#pragma once

#include <cstdint>
#include <vector>

#include "server/policy/ledger/costs.h"
#include "tools/simulator/agenda.h"
#include "tools/simulator/relays/world.h"

namespace gleaner::simulator {

struct ChildUnit {
  std::int64_t id = 0;  // 0: none
  Range range;
  double starts_at = 0;  // it is here then
};

struct ChildSlot {
  ChildUnit unit;
  double work = 0;  // true cost done, counted from item 0
  std::int64_t committed = 0;
  float running = 0, at_commit = 0;  // seconds on the unit; that when its last segment was cut
  std::int32_t next = -1;            // the unit that waits, among Children::waiting
};

struct Child {
  double advanced_to = 0, heartbeat_at = 0, asks_at = 0, busy_until = 0;
  std::uint32_t first_slot = 0;
  std::int32_t lively = -1;
  float speed = 1, performance = 1;
  double work = 0;  // done in all
  std::uint16_t slots = 1;
  std::uint8_t empty_handed = 0;  // answers without work in a row
  bool gone = false;
};

struct Lively {
  explicit Lively(const GridHost& host) : trace(host) {}
  HostTrace trace;
  HostState state;
  HostEvent coming{Agenda::never, HostEventKind::on, 1};
};

class Children {
 public:
  Children(const RelayWorld& world, const policy::Costs& costs, std::size_t begin, std::size_t end);

  [[nodiscard]] std::size_t size() const { return children_.size(); }
  [[nodiscard]] Child& at(std::size_t child) { return children_[child]; }
  [[nodiscard]] ChildSlot* slots_of(const Child& child) { return &slots_[child.first_slot]; }
  [[nodiscard]] bool on(const Child& child) const {
    return child.lively < 0 || lively_[static_cast<std::size_t>(child.lively)].state.on();
  }
  [[nodiscard]] bool paused(const Child& child) const {
    return child.lively >= 0 && lively_[static_cast<std::size_t>(child.lively)].state.paused;
  }
  // Of its full speed, now.
  [[nodiscard]] double speed(const Child& child) const {
    return child.speed *
           (child.lively < 0 ? 1 : lively_[static_cast<std::size_t>(child.lively)].state.share());
  }
  [[nodiscard]] double next_event(const Child& child) const {
    return child.lively < 0 ? Agenda::never : lively_[static_cast<std::size_t>(child.lively)].coming.at;
  }

  void advance(Child& child, double now);
  // What befalls it until now. True: it was switched on just now.
  bool befall(Child& child, double now);
  [[nodiscard]] std::int64_t finished(const ChildSlot& slot) const;
  [[nodiscard]] double seconds_left(const Child& child, const ChildSlot& slot) const;
  // The unit in hand is over: the one that waits, if any, is begun.
  void next_unit(Child& child, ChildSlot& slot, double now);
  void give(Child& child, ChildSlot& slot, const ChildUnit& unit, double now);
  // The unit that waits; null: none.
  [[nodiscard]] ChildUnit* waiting(const ChildSlot& slot) {
    return slot.next < 0 ? nullptr : &waiting_[static_cast<std::size_t>(slot.next)];
  }
  void drop_waiting(ChildSlot& slot);
  [[nodiscard]] double work_done(double now);                        // by all of them; advances them
  [[nodiscard]] double performance() const { return performance_; }  // of all slots

 private:
  void begin(Child& child, ChildSlot& slot, const ChildUnit& unit, double now) const;

  const policy::Costs* costs_;
  std::vector<Child> children_;
  std::vector<ChildSlot> slots_;
  std::vector<Lively> lively_;
  std::vector<ChildUnit> waiting_;
  std::vector<std::int32_t> vacant_;
  double performance_ = 0;
};

}  // namespace gleaner::simulator
