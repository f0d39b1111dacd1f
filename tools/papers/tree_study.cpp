#include "tools/papers/tree_study.h"

#include <cmath>

namespace gleaner::simulator {
namespace {

constexpr int snapshots = 12;
constexpr std::int64_t tasks = 2500, pushed_tasks = 7500;
constexpr std::uint64_t speeds_stream = 1'000'003;  // apart from the trees' own seeds

}  // namespace

const std::array<TreeScenario, 4>& tree_scenarios() {
  static const std::array<TreeScenario, 4> all{{{"static 1000", false, 1000},
                                                {"static 1", false, 1},
                                                {"dynamic 1000", true, 1000},
                                                {"dynamic 1", true, 1}}};
  return all;
}

Result<TreeScore> score_tree(const TreeScenario& scenario, const std::string& rule, std::uint64_t seed) {
  TreeInstance instance;
  instance.tree = random_task_tree(seed, scenario.task_to_result);
  TRY_ASSIGN(instance.best, planning::best_throughput(instance.tree));
  const std::size_t nodes = instance.tree.nodes.size();
  instance.speeds = scenario.changing ? changing_speeds(seed + speeds_stream, nodes, instance.best.rate)
                                      : steady_speeds(nodes);
  instance.rule = rule;
  instance.tasks = rule == "round-robin" ? pushed_tasks : tasks;
  TRY_ASSIGN(const TreeRun run, run_tree(instance));
  if (!run.complete)
    return Error{ErrorKind::internal,
                 scenario.name + ", " + rule + ", seed " + std::to_string(seed) + ": " + run.fault};
  double optimum = instance.best.rate;
  if (scenario.changing) {
    optimum = 0;
    for (int i = 0; i < snapshots; ++i) {
      const double time = run.finish * (i + 0.5) / snapshots;
      TRY_ASSIGN(const auto best, planning::best_throughput(snapshot(instance.tree, instance.speeds, time)));
      optimum += best.rate / snapshots;
    }
  }
  return TreeScore{run.rate_at(0.5) / optimum, run.rate_at(0.9) / optimum, run.rate_at(1) / optimum};
}

TreeScore TreeStudy::mean() const {
  TreeScore sum;
  const double count = static_cast<double>(scores.size());
  for (const TreeScore& score : scores) {
    sum.at_half += score.at_half / count;
    sum.at_90 += score.at_90 / count;
    sum.at_end += score.at_end / count;
  }
  return sum;
}

Difference paired(const TreeStudy& a, const TreeStudy& b) {
  Difference difference;
  const double count = static_cast<double>(a.scores.size());
  for (std::size_t i = 0; i < a.scores.size(); ++i)
    difference.mean += (a.scores[i].at_90 - b.scores[i].at_90) / count;
  double squares = 0;
  for (std::size_t i = 0; i < a.scores.size(); ++i) {
    const double off = a.scores[i].at_90 - b.scores[i].at_90 - difference.mean;
    squares += off * off;
  }
  if (a.scores.size() > 1) difference.error = std::sqrt(squares / (count - 1) / count);
  return difference;
}

Result<TreeStudy> study_trees(const TreeScenario& scenario, const std::string& rule, std::uint64_t first_seed,
                              int trees) {
  TreeStudy study;
  for (int i = 0; i < trees; ++i) {
    TRY_ASSIGN(const TreeScore score, score_tree(scenario, rule, first_seed + static_cast<std::uint64_t>(i)));
    study.scores.push_back(score);
  }
  return study;
}

}  // namespace gleaner::simulator
