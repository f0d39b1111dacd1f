// LL and its sorted forms. The load is the time until the host is idle, in seconds: in queued work (the other
// reading of the thesis) the rule is hardly better than round robin. LL itself counts communication into the
// load, as the golden instance of server/policy/mapping/MAPPING.md has it.
#include <algorithm>
#include <cmath>

#include "server/policy/mapping/heuristics.h"
#include "server/policy/mapping/table.h"

namespace gleaner::policy {
namespace {

constexpr const char* lightest_loaded_source = "Page 2009, section 3.2 (lightest loaded)";

const char* name_of(TaskOrder order, Communication communication) {
  const bool counted = communication == Communication::counted;
  switch (order) {
    case TaskOrder::batch:
      return "ll";
    case TaskOrder::smallest_first:
      return counted ? "llmc" : "llm";
    case TaskOrder::largest_first:
      return counted ? "llxc" : "llx";
  }
  return "ll";
}

template <TaskOrder order, Communication communication>
Result<std::unique_ptr<MappingStrategy>> make_lightest_loaded(StrategyOptions&) {
  return list_heuristic(
      name_of(order, communication),
      +[](const MappingInput& input) { return lightest_loaded(input, order, communication); });
}

}  // namespace

Schedule lightest_loaded(const MappingInput& input, TaskOrder order, Communication communication) {
  const MappingCosts costs(input, communication);
  std::vector<std::size_t> tasks = costs.tasks();
  if (order != TaskOrder::batch) {
    const std::vector<double> work = work_of(input);
    std::stable_sort(tasks.begin(), tasks.end(), [&](std::size_t a, std::size_t b) {
      return order == TaskOrder::smallest_first ? clearly_less(work[a], work[b])
                                                : clearly_less(work[b], work[a]);
    });
  }
  MappingDraft plan(input, costs);
  for (const std::size_t task : tasks) {
    std::size_t lightest = costs.hosts().front();
    double least = infinity;
    for (const std::size_t host : costs.hosts()) {
      if (!std::isfinite(costs(task, host)) || !clearly_less(plan.ready(host), least)) continue;
      least = plan.ready(host);
      lightest = host;
    }
    plan.place(task, lightest);
  }
  return std::move(plan).done(name_of(order, communication));
}

MappingEntry ll_entry() {
  return {{"ll",
           "each task as it comes to the host that is idle first, communication counted",
           lightest_loaded_source,
           {}},
          make_lightest_loaded<TaskOrder::batch, Communication::counted>};
}

MappingEntry llm_entry() {
  return {{"llm", "smallest task first, to the host that is idle first", lightest_loaded_source, {}},
          make_lightest_loaded<TaskOrder::smallest_first, Communication::ignored>};
}

MappingEntry llx_entry() {
  return {{"llx", "largest task first, to the host that is idle first", lightest_loaded_source, {}},
          make_lightest_loaded<TaskOrder::largest_first, Communication::ignored>};
}

MappingEntry llmc_entry() {
  return {{"llmc", "llm with communication counted", lightest_loaded_source, {}},
          make_lightest_loaded<TaskOrder::smallest_first, Communication::counted>};
}

MappingEntry llxc_entry() {
  return {{"llxc", "llx with communication counted", lightest_loaded_source, {}},
          make_lightest_loaded<TaskOrder::largest_first, Communication::counted>};
}

}  // namespace gleaner::policy
