// The papers' rule: the outstanding unit of the slowest worker, each once, with their omission of workers
// that return nothing [Qureshi and Hatanaka 1999].
#include "server/policy/stage/straggler.h"

namespace gleaner::policy {
namespace {

CopyPlan slowest_first(const StageState& stage, Timestamp now) {
  std::vector<std::pair<double, UnitId>> found;
  for (const Outstanding& one : outstanding(stage, now)) {
    const HostRecord& record = stage.units.at(one.unit).host->record;
    const double rate = stage.clock.fleet().rate(record);
    found.emplace_back(rate > 0 ? rate : record.performance, one.unit);
  }
  return in_order(std::move(found));
}

}  // namespace

const StragglerRule& duplicate_once_straggler() {
  static const StragglerRule rule{
      .info = {Straggler::duplicate_once, "duplicate-once", "copy the unit of the slowest host, each once",
               "Qureshi and Hatanaka 1999"},
      .nothing = "nothing is free, and every outstanding unit has been copied once",
      .plan = slowest_first,
      .why = "its host is the slowest at work",
      .omits = true,
  };
  return rule;
}

}  // namespace gleaner::policy
