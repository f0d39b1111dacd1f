// What an item costs: one estimate, from its hint and from what each host that is or was at it tells by the
// time that it has spent and by what it says is done of it. Beside it what is saved of items, which whoever
// goes on need not compute. Costs are hint units. Not thread-safe. [server/policy/POLICY.md, "What an item
// costs"]
//
// A hint is wrong by as much as whoever gave it knew, a host's word by as much as the host is slower than
// believed. Slowness only makes words larger: of several the least counts. As long as nothing tells which is
// wrong, hint and word count alike, as logarithms; and the more hosts say that an item is long, the more
// their word counts.
#pragma once

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "server/policy/hosts/held.h"
#include "server/policy/ledger/costs.h"
#include "server/policy/rules/rules.h"

namespace gleaner::policy {

class ItemCosts {
 public:
  struct Estimate {
    double mean = 0;
    double said = 0;  // by the hosts' least word alone; the hint, where there is none
    int words = 0;
  };

  // `costs` must outlive it.
  explicit ItemCosts(const Costs& costs) : costs_(&costs) {}

  // ---- What is known
  // Without the word of the host `but`, if it is valid.
  [[nodiscard]] Estimate estimate(std::int64_t item, HostId but = {}) const;
  // What another host would have to compute of it: all but what is saved.
  [[nodiscard]] double elsewhere(std::int64_t item) const;
  [[nodiscard]] double saved_share(std::int64_t item) const;
  // What its holder, which is at it, has left of it at `rate`.
  [[nodiscard]] double left(const Held& held, std::int64_t item, double rate) const;
  // The holder is slower than can be: paused without saying so, or at another's work.
  [[nodiscard]] bool standing_still(const Held& held, double rate, const EndgameRules& rules) const;
  // It has taken that host far longer than hinted.
  [[nodiscard]] bool overlong(std::int64_t item, HostId host) const;
  // Items that are handed out and take a shortest unit or more, by what they may cost (Estimate::said).
  [[nodiscard]] const std::set<std::pair<double, std::int64_t>>& long_items() const { return long_; }

  // ---- What changes
  void handed_out(Range range, double rate, const EndgameRules& rules);
  // What the report of a holder says of the item that it is at.
  void learn(const Held& held, double rate, const EndgameRules& rules);
  // A holder ends items.
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
  // What a host makes of an item.
  struct Word {
    HostId host;
    double cost = 0;
    bool spent = false;  // it has been at it for long
  };
  struct Known {
    std::vector<Word> words;
    double listed = 0;  // its key among the long items; 0: it is not there for this
  };
  [[nodiscard]] double hint(std::int64_t item) const { return costs_->of({item, item + 1}); }
  [[nodiscard]] static bool believed(Slot& slot, std::int64_t item);

  const Costs* costs_;
  std::map<std::int64_t, Known> known_;
  std::map<std::int64_t, Saved> saved_;
  std::set<std::pair<double, std::int64_t>> long_;
};

}  // namespace gleaner::policy
