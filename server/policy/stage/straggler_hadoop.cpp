// Hadoop's speculation as LATE met it [Zaharia et al. 2008, section 2]: a unit that ran for a minute and
// whose progress is a fifth of a unit below the average of all that began, done ones included, is copied. All
// such are alike: the oldest goes first. The baseline that LATE's gains are told against.
#include "server/policy/stage/straggler.h"

namespace gleaner::policy {
namespace {

constexpr double below_average = 0.2;
constexpr double running_least = 60;  // seconds

// 0 to 1; of one that made no progress yet, 0.
double progress_of(const Outstanding& one) {
  return one.running > 0 ? one.running / (one.running + one.left) : 0;
}

CopyPlan below_the_average(const StageState& stage, Timestamp now) {
  const std::vector<Outstanding> all = outstanding(stage, now);
  const auto done = static_cast<double>(stage.totals.units_done);
  double sum = done;
  for (const Outstanding& one : all) sum += progress_of(one);
  const double threshold = sum / (done + static_cast<double>(all.size())) - below_average;
  std::vector<std::pair<double, UnitId>> found;
  for (const Outstanding& one : all)
    if (one.running >= running_least && progress_of(one) < threshold)
      found.emplace_back(-one.running, one.unit);
  return in_order(std::move(found));
}

}  // namespace

const StragglerRule& hadoop_straggler() {
  static const StragglerRule rule{
      .info = {Straggler::hadoop, "hadoop", "copy what is a fifth below the average progress after a minute",
               "Hadoop before LATE: Zaharia et al. 2008"},
      .nothing = "nothing is free, and no unit is a fifth below the average progress",
      .plan = below_the_average,
      .why = "its progress is a fifth below the average",
  };
  return rule;
}

}  // namespace gleaner::policy
