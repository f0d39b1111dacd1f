#include "shared/planning/task_tree.h"

#include <algorithm>
#include <cmath>

#include "shared/base/check.h"
#include "shared/planning/linear_program.h"

namespace gleaner::planning {
namespace {

// The second program keeps the optimum up to rounding errors.
constexpr double kept = 1 - 1e-10;

struct Columns {
  std::vector<std::size_t> own, passed;
};

Columns add_model(LinearProgram& program, const TaskTree& tree) {
  Columns columns;
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    columns.own.push_back(program.add_column(0, 1 / tree.nodes[i].compute));
    columns.passed.push_back(i == 0 ? program.add_column(0, 0) : program.add_column(0));
  }
  const auto children = tree.children();
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    std::vector<Term> flow{{columns.passed[i], 1}, {columns.own[i], -1}};
    std::vector<Term> sends{{columns.passed[i], tree.nodes[i].result_up}};
    std::vector<Term> receives{{columns.passed[i], tree.nodes[i].task_down}};
    for (const std::size_t child : children[i]) {
      flow.push_back({columns.passed[child], -1});
      sends.push_back({columns.passed[child], tree.nodes[child].task_down});
      receives.push_back({columns.passed[child], tree.nodes[child].result_up});
    }
    if (i > 0) program.add_equal(std::move(flow), 0);
    program.add_at_most(std::move(sends), 1);
    program.add_at_most(std::move(receives), 1);
  }
  return columns;
}

}  // namespace

std::vector<std::vector<std::size_t>> TaskTree::children() const {
  std::vector<std::vector<std::size_t>> lists(nodes.size());
  for (std::size_t i = 1; i < nodes.size(); ++i) {
    CHECK_TRUE(nodes[i].parent < i);
    lists[nodes[i].parent].push_back(i);
  }
  return lists;
}

Result<Throughput> best_throughput(const TaskTree& tree) {
  LinearProgram most(LinearProgram::Goal::maximise);
  const Columns columns = add_model(most, tree);
  for (const std::size_t column : columns.own) most.set_weight(column, 1);
  TRY_ASSIGN(const auto optimum, most.solve());
  LinearProgram compact(LinearProgram::Goal::minimise);
  add_model(compact, tree);
  std::vector<Term> rate;
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    compact.set_weight(columns.passed[i], 1);
    rate.push_back({columns.own[i], -1});
  }
  compact.add_at_most(std::move(rate), -optimum.value * kept);
  TRY_ASSIGN(const auto solution, compact.solve());
  Throughput best;
  best.rate = optimum.value;
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    best.own.push_back(solution.columns[columns.own[i]]);
    best.passed.push_back(solution.columns[columns.passed[i]]);
  }
  return best;
}

RoundRobinPeriod round_robin_period(const TaskTree& tree, const Throughput& best) {
  RoundRobinPeriod period;
  const double fastest = *std::max_element(best.own.begin(), best.own.end());
  const double x = std::floor(std::log10(fastest));
  period.seconds = x <= 0 ? std::pow(10, std::abs(x) + 1) : std::pow(10, x);
  for (const double rate : best.own) period.own.push_back(std::llround(period.seconds * rate));
  period.bunch = period.own;
  for (std::size_t i = tree.nodes.size(); i-- > 1;) period.bunch[tree.nodes[i].parent] += period.bunch[i];
  return period;
}

}  // namespace gleaner::planning
