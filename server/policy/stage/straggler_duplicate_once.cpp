// The papers' rule: the outstanding unit of the slowest worker, each once [Qureshi and Hatanaka 1999; rules
// in the specification of divisible strategies, section 2a], with their omission of workers that return
// nothing.
#include <algorithm>

#include "server/policy/stage/straggler.h"

namespace gleaner::policy {
namespace {

std::vector<UnitId> slowest_first(StageState& stage, Timestamp now) {
  std::vector<std::pair<double, UnitId>> found;
  for (const Outstanding& one : outstanding(stage, now)) {
    const HostRecord& record = stage.open.at(one.unit).host->record;
    const double rate = stage.fleet.rate(record);
    found.emplace_back(rate > 0 ? rate : record.performance, one.unit);
  }
  std::sort(found.begin(), found.end());
  std::vector<UnitId> units;
  for (const auto& [rate, unit] : found) units.push_back(unit);
  return units;
}

class DuplicateOnce final : public StragglerRule {
 public:
  [[nodiscard]] Grant help(StageState& stage, const Requester& requester, Timestamp now,
                           Changes& changes) const override {
    Grant grant =
        copy_planned(stage, requester, slowest_first, "its host is the slowest at work", now, changes);
    if (!grant.unit) grant.reason = "nothing is free, and every outstanding unit has been copied once";
    return grant;
  }
  [[nodiscard]] bool omits() const override { return true; }
};

}  // namespace

StragglerEntry duplicate_once_straggler() {
  static const DuplicateOnce rule;
  return {{Straggler::duplicate_once, "duplicate-once", "copy the unit of the slowest host, each once",
           "Qureshi and Hatanaka 1999"},
          &rule};
}

}  // namespace gleaner::policy
