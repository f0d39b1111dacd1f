#include "server/service/core/stage_waste.h"

#include <numeric>

#include "server/policy/outlook/outlook.h"

namespace gleaner::service {

double total_cost(const storage::StageRow& row) {
  if (row.costs.empty()) return static_cast<double>(row.items);
  return std::accumulate(row.costs.begin(), row.costs.end(), 0.0);
}

double wasted_after(double wasted_before, const storage::StageRow& last, double next_before) {
  const double cost = total_cost(last);
  return policy::waste_after(wasted_before,
                             policy::waste_of(last.done_before, last.cost_wasted, cost, last.cost_ahead),
                             policy::done_of(last.done_before, cost, cost, last.cost_ahead), next_before);
}

}  // namespace gleaner::service
