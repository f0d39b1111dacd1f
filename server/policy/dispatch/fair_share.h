// Which problem a slot works for next: weighted fair sharing of the time that slots really spend.
//
// Used time. A slot is held by the first unit that it has, from the moment when it got it (or the unit before
// it closed) until that unit closes; its problem is charged that time, whatever the unit was estimated at.
// Time is settled when a unit closes and every few seconds; in between, units count with the time since. A
// unit that is paused, or whose host is silent, holds no slot; a host that was only cut off is charged what
// its kernel says it ran.
//
// Choice. Of the problems that have something for the slot, first the class of the highest priority (strict);
// within it the one with the least projected use over a short horizon H at the present allocation of slots:
//
//     (used + H * (slots + 1/2)) / weight
//
// `used` makes up for what was missed, with time constant H; `slots` is the number of slots that the problem
// will hold next, so that a slot given away counts at once, however long its unit will take: no estimate is
// asked. The half is Webster's (Sainte-Lague) rounding of shares to whole slots, which favours neither small
// nor large weights [Balinski, Young: Fair Representation, 2001]. H is the mean time for which slots are held
// (weighted by time: a slot looked at now), between half a minute and an hour: what is decided cannot be
// mended sooner than that.
//
// Who cannot use its share, because its hosts are few or nothing is free, saves up no more than its share of
// one horizon (as a queue that was empty has no claim on the past: start-time fair queueing, Goyal, Vin and
// Cheng 1996). A newcomer, and a problem that comes back, starts level with the others of its class.
//
// Pure. Not thread-safe. Cost: O(problems) a choice; O(open units) every few seconds while several compete.
#pragma once

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "server/policy/stage/stage.h"
#include "shared/base/clock.h"
#include "shared/base/ids.h"

namespace gleaner::policy {

struct ShareTerms {
  double weight = 1;  // of the slots, relative to others of the same priority
  int priority = 0;   // strict: a slot works for a lower one only if no higher one has anything for it
  friend bool operator==(const ShareTerms&, const ShareTerms&) = default;
};

class FairShare {
 public:
  // Finds an open or lately closed unit; null: it is not known any more.
  using FindUnit = std::function<const Unit*(ProblemId, UnitId)>;

  // It competes from now on, level with the others; with `service` (from service()): as it stood.
  void enter(ProblemId problem, ShareTerms terms, Timestamp now, std::optional<double> service = {});
  void change(ProblemId problem, ShareTerms terms, Timestamp now);
  // It is paused, between stages, or over; units still open are charged on.
  void withdraw(ProblemId problem);
  void forget(ProblemId problem);

  // `urgent`: the slot was idle, so nothing else holds it.
  void took(ProblemId problem, const Unit& unit, bool urgent, Timestamp now);
  void closed(ProblemId problem, const Unit& unit, Timestamp now);
  // Every few seconds; it does something only when several problems compete.
  void settle(const FindUnit& find, Timestamp now);

  // Most deserving first. Ties: lower id.
  [[nodiscard]] std::vector<ProblemId> order(std::span<const ProblemId> candidates, HostId host, int slot,
                                             Timestamp now);

  // Used time over weight, relative to the others': what a restart has to know.
  [[nodiscard]] double service(ProblemId problem, Timestamp now) const;
  // How many slots hold units now. A slot counts once, whatever problems its units are of. Slots of silent
  // hosts count while one problem competes alone.
  [[nodiscard]] std::int64_t slots_held() const;
  // Slot-seconds charged so far.
  [[nodiscard]] double slot_seconds(ProblemId problem, Timestamp now) const;

 private:
  struct Account {
    ShareTerms terms;
    bool competes = false;
    bool held_back = false;    // by its hosts: it saves up no more
    double service = 0;        // settled
    double charged = 0;        // slot-seconds, settled
    std::int64_t running = 0;  // units that hold a slot and count now
    double since = 0;          // sum of the times since when they are not settled
    std::int64_t next = 0;     // slots whose last unit is its own
  };
  struct Hold {
    ProblemId problem;
    UnitId unit;
    double since = 0;    // settled up to here
    double spent = 0;    // settled
    double running = 0;  // as the kernel said then
    bool counts = false;
    bool away = false, paused = false;
  };
  // In the order in which they were handed out; mostly one.
  using Slot = boost::container::small_vector<Hold, 1>;

  [[nodiscard]] double seconds(Timestamp at) const { return to_seconds(at - origin_); }
  [[nodiscard]] static double open_seconds(const Account& account, double at);
  [[nodiscard]] Slot* find_slot(HostId host, int slot);
  void count(Hold& hold, double from);
  void stop(Hold& hold);
  void charge(Hold& hold, double slot_seconds);
  void settle_hold(Hold& hold, const Unit& unit, double at);
  void close_first(Slot& slot);
  void remove(Slot& slot, std::size_t place, double at);
  [[nodiscard]] double level(ProblemId newcomer, int priority, double at) const;
  [[nodiscard]] double horizon() const;
  void limit_savings(int priority, double at);

  std::map<ProblemId, Account> accounts_;
  std::vector<Slot> slots_;
  std::unordered_map<std::uint64_t, std::size_t> places_;  // of a host's slot in them
  Timestamp origin_{};
  double settled_at_ = 0;
  // Times for which slots were held, closed and open ones: sums of them and of their squares.
  double closed_sum_ = 0, closed_squares_ = 0, open_sum_ = 0, open_squares_ = 0;
};

}  // namespace gleaner::policy
