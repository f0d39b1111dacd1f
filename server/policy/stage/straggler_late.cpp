// LATE, longest approximate time to end [Zaharia et al. 2008, section 4]: among the units whose progress is
// in the slowest quarter, copy the one that would end last; not on a host of the slowest quarter; copies take
// at most a tenth of the slots.
#include <algorithm>

#include "server/policy/stage/straggler.h"

namespace gleaner::policy {
namespace {

constexpr double slow_quantile = 0.25;
constexpr double copies_cap = 0.10;

double quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  const auto place =
      values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

std::vector<UnitId> latest_slow(StageState& stage, Timestamp now) {
  std::vector<double> rates;
  for (const auto& [id, host] : stage.hosts) {
    if (host.slots_on > 0) rates.push_back(stage.fleet.rate(host.record));
  }
  stage.plan.slow_host_rate = quantile(std::move(rates), slow_quantile);
  std::vector<Outstanding> all = outstanding(stage, now);
  std::vector<double> progress;
  for (const Outstanding& one : all) progress.push_back(one.progress);
  const double slow = quantile(std::move(progress), slow_quantile);
  all.erase(
      std::remove_if(all.begin(), all.end(), [&](const Outstanding& one) { return one.progress > slow; }),
      all.end());
  std::stable_sort(all.begin(), all.end(),
                   [](const Outstanding& a, const Outstanding& b) { return a.left > b.left; });
  std::vector<UnitId> units;
  for (const Outstanding& one : all) units.push_back(one.unit);
  return units;
}

class Late final : public StragglerRule {
 public:
  [[nodiscard]] Grant help(StageState& stage, const Requester& requester, Timestamp now,
                           Changes& changes) const override {
    const auto slots = static_cast<double>(stage.fleet.slots_on());
    if (static_cast<double>(stage.open_copies + 1) > std::max(1.0, copies_cap * slots))
      return {{}, 0, "nothing is free, and a tenth of the slots compute copies"};
    const double rate = stage.fleet.rate(stage.hosts.at(requester.host).record);
    if (stage.plan.made != Timestamp::min() && rate < stage.plan.slow_host_rate)
      return {{}, 0, "nothing is free, and this host is in the slowest quarter"};
    Grant grant =
        copy_planned(stage, requester, latest_slow, "it would end last of the slow ones", now, changes);
    if (!grant.unit) grant.reason = "nothing is free, and no slow unit is without a copy";
    return grant;
  }
};

}  // namespace

StragglerEntry late_straggler() {
  static const Late rule;
  return {{Straggler::late, "late", "copy the slow unit that would end last, within a tenth of the slots",
           "LATE: Zaharia et al. 2008"},
          &rule};
}

}  // namespace gleaner::policy
