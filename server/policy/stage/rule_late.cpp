// Leases of the comparison rules: a unit that was not delivered in time goes to the next host that asks as
// well.
#include "server/policy/stage/straggler.h"

namespace gleaner::policy {
std::string propose_late(const StageState& stage, const Requester& requester, Timestamp now,
                         const Take& take) {
  int looked = 0;
  for (const auto& [end, id] : stage.copies.by_lease) {
    if (end > now || ++looked > numbers::looked_at) break;
    const Unit& unit = stage.units.at(id).unit;
    const std::string why = stage.because("host {} has not delivered it in time", unit.host.value);
    const bool taken = propose_copy(stage, requester, unit.group, why, Proposal::From::lease,
                                    [&, late = id](Proposal& copy) {
                                      copy.late = late;
                                      return take(copy);
                                    });
    if (taken) break;
  }
  return {};
}

}  // namespace gleaner::policy
