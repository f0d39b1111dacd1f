// EF: each task, as it comes, to the host that finishes it first.
#include "server/policy/mapping/heuristics.h"
#include "server/policy/mapping/table.h"

namespace gleaner::policy {

Schedule earliest_finish(const MappingInput& input) {
  const MappingCosts costs(input, Communication::counted);
  MappingDraft plan(input, costs);
  for (const std::size_t task : costs.tasks()) plan.place(task, plan.best_host(task));
  return std::move(plan).done("ef");
}

MappingEntry earliest_finish_entry() {
  return {{"ef",
           "each task as it comes to the host that finishes it first, communication counted",
           "Page 2009, section 3.2 (earliest first)",
           {}},
          [](StrategyOptions&) { return list_heuristic("ef", &earliest_finish); }};
}

}  // namespace gleaner::policy
