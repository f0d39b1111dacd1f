// rDLB, robust dynamic load balancing: an idle slot gets a copy of the next outstanding unit in turn, without
// any limit [Mohammed, Cavelan and Ciorba 2019].
#include <limits>

#include "server/policy/stage/straggler.h"

namespace gleaner::policy {
namespace {

// Units looked at for one that the host does not hold itself.
constexpr int groups_looked_at = 256;

class Rdlb final : public StragglerRule {
 public:
  [[nodiscard]] Grant help(StageState& stage, const Requester& requester, Timestamp now,
                           Changes& changes) const override {
    auto next = stage.groups.upper_bound(stage.plan.last_copied);
    const auto most = std::min<std::size_t>(groups_looked_at, stage.groups.size());
    for (std::size_t looked = 0; looked < most; ++looked, ++next) {
      if (next == stage.groups.end()) next = stage.groups.begin();
      const UnitId group = next->first;
      const Grant grant = copy_group(stage, requester, group, "the next in turn", now, changes);
      if (!grant.unit) continue;
      stage.plan.last_copied = group;
      return grant;
    }
    return {{}, 0, "nothing is free, and this host holds every outstanding unit"};
  }
  [[nodiscard]] int holders_max(const EndgameRules& /*rules*/) const override {
    return std::numeric_limits<int>::max();
  }
};

}  // namespace

StragglerEntry rdlb_straggler() {
  static const Rdlb rule;
  return {{Straggler::rdlb, "rdlb", "copy the next outstanding unit in turn, without limit",
           "rDLB: Mohammed, Cavelan and Ciorba 2019"},
          &rule};
}

}  // namespace gleaner::policy
