#include "shared/planning/optimum.h"

#include <numeric>

#include "shared/planning/linear_program.h"

namespace gleaner::planning {

Result<OptimalPlan> plan_optimal(const LoadTree& tree, const LoadCost& cost) {
  LinearProgram program(LinearProgram::Goal::minimise);
  const std::size_t finish = program.add_column(1);
  // Of every node: its share, its subtree's load, when its load is there, when its report is at its parent.
  std::vector<std::size_t> share, load, arrival, report;
  for (std::size_t i = 0; i < tree.size(); ++i) {
    const bool idle = i == 0 && !tree.root_computes() && tree.size() > 1;
    share.push_back(idle ? program.add_column(0, 0) : program.add_column(0));
    load.push_back(program.add_column(0));
    arrival.push_back(program.add_column(0));
    report.push_back(program.add_column(0));
  }
  program.add_equal({{load[0], 1}}, 1);
  program.add_equal({{arrival[0], 1}}, 0);
  if (tree.root_computes() || tree.size() == 1)
    program.add_at_most({{share[0], tree[0].w * cost.tcp}, {finish, -1}}, 0);
  for (std::size_t i = 0; i < tree.size(); ++i) {
    std::vector<Term> sum{{load[i], 1}, {share[i], -1}};
    std::size_t before = arrival[i];  // when the parent may send to this child
    for (const std::size_t child : tree[i].children) {
      sum.push_back({load[child], -1});
      program.add_equal({{arrival[child], 1}, {before, -1}, {load[child], -tree[child].z * cost.tcm}}, 0);
      before = arrival[child];
    }
    program.add_equal(std::move(sum), 0);
    bool first = true;
    std::size_t previous = 0;
    for (const std::size_t child : tree[i].children) {
      const double reporting = tree[child].z * cost.tsol;
      const auto report_after = [&](std::size_t moment) {
        program.add_at_most({{moment, 1}, {load[child], reporting}, {report[child], -1}}, 0);
      };
      program.add_at_most({{arrival[child], 1},
                           {share[child], tree[child].w * cost.tcp},
                           {load[child], reporting},
                           {report[child], -1}},
                          0);
      if (!tree[child].children.empty()) report_after(report[tree[child].children.back()]);
      if (!first) report_after(report[previous]);
      if (first && cost.duplex == Duplex::half) report_after(before);  // the last one's arrival
      first = false;
      previous = child;
    }
    if (i == 0 && !first) program.add_at_most({{report[previous], 1}, {finish, -1}}, 0);
  }
  TRY_ASSIGN(const auto solution, program.solve());
  OptimalPlan plan;
  plan.finish = solution.value;
  for (std::size_t i = 0; i < tree.size(); ++i) plan.shares.push_back(solution.columns[share[i]]);
  return plan;
}

}  // namespace gleaner::planning
