// RR: the tasks in turn to the hosts in turn; the turn survives batches (MappingInput::placed_before). A host
// that may not have a task is passed over for this task only.
#include <cmath>

#include "server/policy/mapping/heuristics.h"
#include "server/policy/mapping/table.h"

namespace gleaner::policy {
namespace {

Schedule round_robin(const MappingInput& input) {
  const MappingCosts costs(input, Communication::counted);
  MappingDraft plan(input, costs);
  std::uint64_t turn = input.placed_before;
  for (const std::size_t task : costs.tasks()) {
    std::size_t host = turn++ % input.hosts();
    while (!std::isfinite(costs(task, host))) host = (host + 1) % input.hosts();
    plan.place(task, host);
  }
  return std::move(plan).done("rr");
}

}  // namespace

MappingEntry round_robin_entry() {
  return {{"rr", "tasks in turn to hosts in turn", "Page 2009, section 3.2", {}},
          [](StrategyOptions&) { return list_heuristic("rr", &round_robin); }};
}

}  // namespace gleaner::policy
