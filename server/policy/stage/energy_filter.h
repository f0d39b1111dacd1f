// Energy as a filter over proposals: of several idle slots that would end a piece of work as soon, the one
// that draws least for it computes it. A slot that asks is passed over where another idle one, due to ask,
// ends the piece no later and draws clearly less. It matters where there are more idle slots than pieces.
// What a slot draws is its owner's word; who said nothing is not waited for and does not wait. Internal to
// the module. [server/policy/POLICY.md, "Energy"]
#pragma once

#include <vector>

#include "server/policy/hosts/host_clock.h"
#include "server/policy/ledger/ledger.h"
#include "server/policy/stage/exchange.h"

namespace gleaner::policy {

class EnergyFilter {
 public:
  explicit EnergyFilter(HostClock& clock) : clock_(&clock) {}

  // Who waits for work as the stage begins, before any of them asks it.
  void expect(const std::vector<IdleHost>& idle);
  // A slot asks: it is not waited for any more.
  void asks(const Requester& requester, Slot& slot);
  // It got nothing, and asks again then.
  void waits(Slot& slot, Timestamp asks_at);

  // Whether there are as many slots that draw less as free items: the items are theirs, if they ask soon.
  [[nodiscard]] bool keeps_free(HostId host, const Ledger& ledger, const EndgameRules& rules,
                                Timestamp now) const;
  // Whether a slot that draws less should have `work` of that group; it is kept for it from now on.
  [[nodiscard]] bool keeps(HostId host, const Group& group, double work, Timestamp now);

 private:
  [[nodiscard]] double speed_of(const HostRecord& record) const;
  [[nodiscard]] double joules_of(const Host& host) const;

  HostClock* clock_;
  std::vector<IdleHost> expected_;  // those that have not asked yet, by joules for a unit of benchmark
};

}  // namespace gleaner::policy
