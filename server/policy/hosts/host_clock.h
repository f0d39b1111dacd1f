// The hosts' clock: who is on, who fell silent, who stands still, and how fast each computes. Sums over all
// hosts are kept by Fleet. Not thread-safe. [server/policy/POLICY.md, R1, R4, R5]
#pragma once

#include <map>
#include <set>

#include "server/policy/hosts/deadlines.h"
#include "server/policy/hosts/fleet.h"
#include "server/policy/hosts/held.h"
#include "server/policy/rules/rules.h"
#include "shared/base/id_table.h"

namespace gleaner::policy {

class HostClock {
 public:
  [[nodiscard]] const Fleet& fleet() const { return fleet_; }
  [[nodiscard]] const IdTable<HostId, Host>& hosts() const { return hosts_; }
  [[nodiscard]] const Host* find(HostId id) const;           // null: it never asked
  [[nodiscard]] const Slot* find(const SlotKey& key) const;  // the same
  // Hint units a second of a slot; 0: nothing is known of anybody.
  [[nodiscard]] double rate(HostId id) const { return fleet_.rate(hosts_.at(id).record); }
  [[nodiscard]] std::int64_t slots_busy() const { return slots_busy_; }
  // What busy slots draw together, of owners who said so.
  [[nodiscard]] double watts_busy() const { return watts_busy_; }
  // Idle slots whose owners said what they draw, by joules for a hint unit.
  [[nodiscard]] const std::set<std::pair<double, SlotKey>>& idle_by_joules() const { return idle_by_joules_; }
  // What an answering host says it has finished will come; but nobody waits for it for ever.
  [[nodiscard]] static bool only_delivery_missing(const Held& held, Timestamp now, const EndgameRules& rules);

  void believe(double benchmark_worth) { fleet_.believe(benchmark_worth); }
  void restore(const HostRecord& record);
  Host& host(HostId id);  // made if need be
  Slot& slot(const SlotKey& key);
  // Every change of a record, of slots_on, of slots_busy or of watts goes through here.
  template <typename Change>
  void change(Host& host, Change change) {
    const Fleet::Keys before = Fleet::keys_of(host.record, host.slots_on);
    fleet_.out(host.record, host.slots_on);
    slots_busy_ -= host.slots_busy;
    watts_busy_ -= host.watts * host.slots_busy;
    change(host);
    fleet_.in(host.record, host.slots_on);
    slots_busy_ += host.slots_busy;
    watts_busy_ = slots_busy_ > 0 ? watts_busy_ + host.watts * host.slots_busy : 0;
    fleet_.relist(host.listed, before, Fleet::keys_of(host.record, host.slots_on));
  }

  // ---- What was heard
  void asked(Slot& slot, Timestamp now, const EndgameRules& rules);
  // A host said something of a unit, and is to report again after `heartbeat` seconds. True: it was silent,
  // and is so no more.
  bool heard(Held& held, Timestamp now, double heartbeat, const EndgameRules& rules);
  // Results of it were accepted.
  void delivered(Host& host, std::int64_t items, double cost);
  void left(Slot& slot, Timestamp now);  // for good
  // Whether the slot is on, or idle, after something changed.
  void update(Slot& slot, Timestamp now);
  // While it is idle: when it was told to ask again, and what it draws for a hint unit (0: unknown).
  void waits(Slot& slot, Timestamp asks_at, double joules);
  void stops_waiting(Slot& slot);
  void keep_for(const SlotKey& key, UnitId group) { slot(key).kept_for = group; }

  // ---- What time brings
  // The next unit that falls silent by `now`; null: none.
  [[nodiscard]] Held* next_silent(Timestamp now);
  void slots_off(Timestamp now);
  // The next unit whose lease ran out by `now`; null: none.
  [[nodiscard]] Held* next_expired(Timestamp now) const;
  void forget(Held& held);  // it is closed

  // ---- Rates [server/policy/POLICY.md, R1]
  // Work done on the unit since the last measurement, if it can be told; `cost` is that of all that is
  // finished, of a stranger of all that it delivered. True: the host's record changed.
  bool measure(Held& held, double cost, bool ended, const EndgameRules& rules);

  void check(std::size_t open_units) const;  // aborts if what it counts is not so; O(slots)

 private:
  bool measured(Host& host, double cost, double seconds, const EndgameRules& rules);

  IdTable<HostId, Host> hosts_;
  Fleet fleet_;
  std::int64_t slots_busy_ = 0;
  double watts_busy_ = 0;
  Deadlines<UnitId, Held> silence_;
  Deadlines<SlotKey, Slot> off_;
  std::map<std::pair<Timestamp, UnitId>, Held*> silent_;  // by the end of their lease
  std::set<std::pair<double, SlotKey>> idle_by_joules_;
};

}  // namespace gleaner::policy
