// Gleaner's own rule, R5-R9: re-cover what stalled holders keep (endgame.cpp), then split or copy what would
// end last (help.cpp).
#include <algorithm>

#include "server/policy/stage/straggler.h"

namespace gleaner::policy {
namespace {

// R5: after so many slots in a row found nothing, those that are no faster do not search.
constexpr int searches_in_vain_max = 20;

class Split final : public StragglerRule {
 public:
  [[nodiscard]] Grant help(StageState& stage, const Requester& requester, Timestamp now,
                           Changes& changes) const override {
    const EndgameRules rules = stage.pace();
    const double rate = stage.fleet.rate(stage.hosts.at(requester.host).record);
    SearchesInVain& vain = stage.vain;
    if (now >= later(vain.since, rules.park) || now < vain.since) vain = {};
    Grant grant;
    const bool kept = stage.slots.at({requester.host, requester.slot}).kept_for.valid();
    if (vain.count < searches_in_vain_max || rate > vain.fastest || kept) {
      grant = stage.recover(requester, rate, rules, now, changes);
      if (!grant.unit && rate > 0) grant = stage.help(requester, rate, rules, now, changes);
    }
    if (grant.unit) return grant;
    if (stage.left_to_thriftier) {
      grant.reason = "hosts that draw less for it and end it as soon are about to ask";
      return grant;
    }
    if (vain.count++ == 0) vain.since = now;
    vain.fastest = std::max(vain.fastest, rate);
    grant.reason = stage.because(
        "nothing is free, and no help of this host would end the {} open units sooner", stage.open.size());
    return grant;
  }
};

}  // namespace

StragglerEntry split_straggler() {
  static const Split rule;
  return {{Straggler::split, "split", "re-cover stalled units, split or copy what would end last",
           "Gleaner's policy, R5-R9"},
          &rule};
}

}  // namespace gleaner::policy
