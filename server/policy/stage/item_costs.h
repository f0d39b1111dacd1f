// What an item costs: its hint, and what was learned since, from the time that hosts spent on it, from what
// they say is done of it, and from what is saved of it. Internal to the module. [server/policy/POLICY.md,
// "What an item costs"]
//
// A single host that has been at an item for long may only be slower than believed; what two hosts have spent
// on it proves that the item is long. What a host says is done of it tells what it costs at that host's
// speed, unless one item after the other proves long there: then the host is slow.
#pragma once

#include <map>
#include <set>

#include "server/policy/ledger/ledger.h"
#include "server/policy/stage/held.h"

namespace gleaner::policy {

class ItemCosts {
 public:
  // What a host has spent on an item in progress: seconds, and the hint cost that it computes in that time;
  // 0: not long yet.
  struct Spent {
    HostId host;
    double seconds = 0, cost = 0;
    double whole = 0;  // what the item costs, by what is done of it; 0: nobody knows
  };
  // An item in progress far beyond its hint, or told to become so.
  struct Overlong {
    std::vector<Spent> spent;
    double listed = 0;  // its cost among the long items; 0: it is not there for this
    [[nodiscard]] const Spent& longest() const;
  };

  // `costs` must outlive it.
  explicit ItemCosts(const Costs& costs) : costs_(&costs) {}

  // ---- What is known
  [[nodiscard]] const std::map<std::int64_t, Overlong>& overlong() const { return overlong_; }
  // By cost: items that are handed out and take a minute or more.
  [[nodiscard]] const std::set<std::pair<double, std::int64_t>>& long_items() const { return long_; }
  // By the word of two hosts; 0: no two say that it costs more than its hint.
  [[nodiscard]] double proven(std::int64_t item) const;
  // By the word of the host that is fastest at it; 0: nobody knows.
  [[nodiscard]] double told(std::int64_t item) const;
  [[nodiscard]] bool overlong(std::int64_t item, HostId host) const;
  // What is left of the item that its holder is at: hint units at `rate`.
  [[nodiscard]] double left(const Held& held, std::int64_t item, double rate) const;
  // What another host would have to compute of the item that its holder is at.
  [[nodiscard]] double elsewhere(const Held& held, std::int64_t item) const;
  // The holder is slower than can be: paused without saying so, or at another's work.
  [[nodiscard]] bool standing_still(const Held& held, double rate, const EndgameRules& rules) const;
  [[nodiscard]] double saved_share(std::int64_t item) const;

  // ---- What changes
  void handed_out(Range range, double rate, const EndgameRules& rules);
  void learn(const Held& held, double rate, const EndgameRules& rules);
  // A holder ends items; closed units have left their slot.
  static void finish_up_to(Held& held, std::int64_t item);
  // What a host saved of an item, and who began it. False: more is there already.
  bool save(std::int64_t item, double share, HostId begun_by);
  bool go_on(Unit& unit) const;  // from what is saved of its first item; false: nothing is
  void forget_saved(Range range);
  void forget(Range range);  // accepted

 private:
  struct Saved {
    double share = 0;
    HostId begun_by;
  };
  [[nodiscard]] double hint(std::int64_t item) const { return costs_->of({item, item + 1}); }
  [[nodiscard]] static bool hear_of_long(Slot& slot, std::int64_t item);
  void list(std::int64_t item, const EndgameRules& rules);
  void unlearn(Range range);

  const Costs* costs_;
  std::map<std::int64_t, Overlong> overlong_;
  std::map<std::int64_t, Saved> saved_;
  std::set<std::pair<double, std::int64_t>> long_;
};

}  // namespace gleaner::policy
