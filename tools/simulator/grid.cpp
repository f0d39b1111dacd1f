#include "tools/simulator/grid.h"

#include <fmt/format.h>

#include <cmath>

#include "server/policy/strategies.h"
#include "tools/simulator/grid_loop.h"

namespace gleaner::simulator {
namespace {

Error invalid(std::string message) {
  return {ErrorKind::invalid, std::move(message)};
}

Status check_costs(const std::vector<double>& costs, std::int64_t items, const char* what) {
  if (!costs.empty() && static_cast<std::int64_t>(costs.size()) != items)
    return invalid(fmt::format("{} {} for {} items: give one an item, or none", costs.size(), what, items));
  for (const double cost : costs) {
    if (!std::isfinite(cost) || cost <= 0) return invalid(fmt::format("{} must be numbers above 0", what));
  }
  return {};
}

}  // namespace

std::vector<const GridProblem*> GridInstance::problems() const {
  std::vector<const GridProblem*> all{this};
  for (const GridProblem& problem : more) all.push_back(&problem);
  return all;
}

Result<GridRun> run_grid(const GridInstance& instance) {
  if (instance.hosts.empty()) return invalid("an instance needs at least one host");
  for (const GridProblem* problem : instance.problems()) {
    if (problem->items < 1) return invalid("a problem needs at least one item");
    TRY(check_costs(problem->costs, problem->items, "costs"));
    TRY(check_costs(problem->hint_costs, problem->items, "hints"));
    if (!(problem->transfer_seconds >= 0)) return invalid("an item's transfer must take at least 0 s");
    if (!(problem->weight > 0)) return invalid("a problem's weight must be above 0");
    if (!(problem->arrives_at >= 0)) return invalid("a problem is added at 0 s or later");
  }
  for (const GridHost& host : instance.hosts) {
    if (!std::isfinite(host.speed) || host.speed <= 0)
      return invalid("a host's speed must be a number above 0");
    if (host.slots < 1) return invalid("a host needs at least one slot");
  }
  if (!(instance.request_delay >= 0)) return invalid("the request delay must be at least 0 s");
  TRY(policy::strategy_kind(instance.sizing));
  return GridLoop(instance).run();
}

}  // namespace gleaner::simulator
