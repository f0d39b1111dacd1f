// rDLB, robust dynamic load balancing: an idle slot gets a copy of the next outstanding unit in turn, without
// any limit [Mohammed, Cavelan and Ciorba 2019].
#include <algorithm>

#include "server/policy/stage/straggler.h"

namespace gleaner::policy {
namespace {

// Units looked at for one that the host does not hold itself.
constexpr std::size_t groups_looked_at = 256;

std::string next_in_turn(const StageState& stage, const Requester& requester, Timestamp /*now*/,
                         const Take& take) {
  const auto& groups = stage.units.groups();
  auto next = groups.upper_bound(stage.copies.last);
  const std::size_t most = std::min(groups_looked_at, groups.size());
  for (std::size_t looked = 0; looked < most; ++looked, ++next) {
    if (next == groups.end()) next = groups.begin();
    if (propose_copy(stage, requester, next->first, "the next in turn", Proposal::From::turn, take))
      return {};
  }
  return {};
}

}  // namespace

const StragglerRule& rdlb_straggler() {
  static const StragglerRule rule{
      .info = {Straggler::rdlb, "rdlb", "copy the next outstanding unit in turn, without limit",
               "rDLB: Mohammed, Cavelan and Ciorba 2019"},
      .nothing = "nothing is free, and this host holds every outstanding unit",
      .idle = {next_in_turn},
      .unlimited = true,
  };
  return rule;
}

}  // namespace gleaner::policy
