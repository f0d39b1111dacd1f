// Spark's speculation: when 90 % of the units are done, copy those that run for longer than three times the
// median of the done ones, each once [Apache Spark 3, spark.speculation.quantile and .multiplier].
#include <algorithm>

#include "server/policy/stage/straggler.h"

namespace gleaner::policy {
namespace {

constexpr double done_share = 0.9;
constexpr double median_factor = 3;

std::vector<UnitId> overlong(StageState& stage, Timestamp now) {
  const auto open = static_cast<double>(stage.open.size() - static_cast<std::size_t>(stage.open_copies));
  const auto done = static_cast<double>(stage.units_done);
  if (done < done_share * (done + open)) return {};
  std::vector<double> durations;
  for (const auto& [id, held] : stage.closed) {
    if (held.unit.state == UnitState::done)
      durations.push_back(seconds_between(held.unit.issued, held.unit.closed));
  }
  if (durations.empty()) return {};
  const auto middle = durations.begin() + static_cast<std::ptrdiff_t>(durations.size() / 2);
  std::nth_element(durations.begin(), middle, durations.end());
  const double limit = median_factor * *middle;
  std::vector<std::pair<double, UnitId>> found;
  for (const Outstanding& one : outstanding(stage, now)) {
    if (one.running > limit) found.emplace_back(-one.running, one.unit);
  }
  std::sort(found.begin(), found.end());
  std::vector<UnitId> units;
  for (const auto& [running, unit] : found) units.push_back(unit);
  return units;
}

class Spark final : public StragglerRule {
 public:
  [[nodiscard]] Grant help(StageState& stage, const Requester& requester, Timestamp now,
                           Changes& changes) const override {
    Grant grant =
        copy_planned(stage, requester, overlong, "it runs for three times the median", now, changes);
    if (!grant.unit)
      grant.reason = "nothing is free, and no unit runs for three times the median of the done";
    return grant;
  }
};

}  // namespace

StragglerEntry spark_straggler() {
  static const Spark rule;
  return {{Straggler::spark, "spark", "at 90 % done, copy what runs for 3 times the median",
           "Apache Spark 3, speculation"},
          &rule};
}

}  // namespace gleaner::policy
