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

CopyPlan latest_slow(const StageState& stage, Timestamp now) {
  std::vector<double> rates, progress;
  for (const auto& [id, host] : stage.clock.hosts()) {
    if (host.slots_on > 0) rates.push_back(stage.clock.fleet().rate(host.record));
  }
  const std::vector<Outstanding> all = outstanding(stage, now);
  for (const Outstanding& one : all) progress.push_back(one.progress);
  const double slow = quantile(std::move(progress), slow_quantile);
  std::vector<std::pair<double, UnitId>> found;
  for (const Outstanding& one : all) {
    if (one.progress <= slow) found.emplace_back(-one.left, one.unit);
  }
  CopyPlan plan = in_order(std::move(found));
  plan.slow_host_rate = quantile(std::move(rates), slow_quantile);
  return plan;
}

const char* barred(const StageState& stage, const Requester& requester) {
  const auto slots = static_cast<double>(stage.clock.fleet().slots_on());
  if (static_cast<double>(stage.totals.open_copies + 1) > std::max(1.0, copies_cap * slots))
    return "nothing is free, and a tenth of the slots compute copies";
  const CopyMemory& copies = stage.copies;
  if (copies.made != Timestamp::min() && stage.clock.rate(requester.host) < copies.plan.slow_host_rate)
    return "nothing is free, and this host is in the slowest quarter";
  return nullptr;
}

}  // namespace

const StragglerRule& late_straggler() {
  static const StragglerRule rule{
      .info = {Straggler::late, "late", "copy the slow unit that would end last, within a tenth of the slots",
               "LATE: Zaharia et al. 2008"},
      .nothing = "nothing is free, and no slow unit is without a copy",
      .plan = latest_slow,
      .why = "it would end last of the slow ones",
      .barred = barred,
  };
  return rule;
}

}  // namespace gleaner::policy
