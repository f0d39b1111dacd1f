// Spark's speculation: when 90 % of the units are done, copy those that run for longer than three times the
// median of the done ones, each once [Apache Spark 3, spark.speculation.quantile and .multiplier].
#include <algorithm>

#include "server/policy/stage/straggler.h"

namespace gleaner::policy {
namespace {

constexpr double done_share = 0.9;
constexpr double median_factor = 3;

CopyPlan longest_running(const StageState& stage, Timestamp now) {
  const auto open =
      static_cast<double>(static_cast<std::int64_t>(stage.units.open().size()) - stage.totals.open_copies);
  const auto done = static_cast<double>(stage.totals.units_done);
  if (done < done_share * (done + open)) return {};
  std::vector<double> durations;
  for (const auto& [id, held] : stage.units.closed()) {
    if (held.unit.state == UnitState::done)
      durations.push_back(seconds_between(held.unit.issued, held.unit.closed));
  }
  if (durations.empty()) return {};
  const auto middle = durations.begin() + static_cast<std::ptrdiff_t>(durations.size() / 2);
  std::nth_element(durations.begin(), middle, durations.end());
  std::vector<std::pair<double, UnitId>> found;
  for (const Outstanding& one : outstanding(stage, now)) {
    if (one.running > median_factor * *middle) found.emplace_back(-one.running, one.unit);
  }
  return in_order(std::move(found));
}

}  // namespace

const StragglerRule& spark_straggler() {
  static const StragglerRule rule{
      .info = {Straggler::spark, "spark", "at 90 % done, copy what runs for 3 times the median",
               "Apache Spark 3, speculation"},
      .nothing = "nothing is free, and no unit runs for three times the median of the done",
      .plan = longest_running,
      .why = "it runs for three times the median",
  };
  return rule;
}

}  // namespace gleaner::policy
