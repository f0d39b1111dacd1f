// Page 2009: estimates of task times. The thesis' error figures (2.10 to 2.14) carry no numbers, so ours
// stand alone; Table 2.1's ratios are recomputed.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "server/policy/estimation/neighbours.h"
#include "shared/base/random.h"
#include "tools/papers/mapped_scenarios.h"
#include "tools/papers/reproduction/sections.h"

namespace gleaner::simulator {
namespace {

using policy::NeighbourSettings;
using policy::TaskParameters;

struct History {
  std::vector<TaskParameters> parameters;
  std::vector<double> seconds;
};

// Two parameters, a cost quadratic in the first and linear in the second, 5 % noise; some outliers.
double cost(const TaskParameters& task) {
  return task.numbers[0] * task.numbers[0] + 3 * task.numbers[1] + 1;
}
TaskParameters task(Random& random) {
  return {{10 * random.uniform(), 10 * random.uniform()}, {}};
}
History history(std::size_t count, double outliers, Random& random) {
  History made;
  for (std::size_t i = 0; i < count; ++i) {
    made.parameters.push_back(task(random));
    double seconds = cost(made.parameters.back()) * std::max(0.1, random.normal(1, 0.05));
    if (random.chance(outliers)) seconds *= 5 + 45 * random.uniform();
    made.seconds.push_back(seconds);
  }
  return made;
}
std::vector<policy::Sample> samples(const History& history) {
  std::vector<policy::Sample> made;
  for (std::size_t i = 0; i < history.seconds.size(); ++i) {
    made.push_back({&history.parameters[i], history.seconds[i], static_cast<std::int64_t>(i)});
  }
  return made;
}

enum class Form { corrected, square_root, printed };

// Estimate over truth, one a trial.
std::vector<double> ratios(std::size_t count, Form form, double smoothing, double outliers, int trials,
                           std::uint64_t seed) {
  Random random(seed + count);
  std::vector<double> made;
  for (int trial = 0; trial < trials; ++trial) {
    const History seen = history(count, outliers, random);
    const TaskParameters wanted = task(random);
    NeighbourSettings settings;
    settings.smoothing = smoothing;
    if (form == Form::square_root) settings.rule = policy::NeighbourRule::square_root;
    const auto estimate =
        form == Form::printed
            ? policy::printed_estimate(samples(seen), wanted, smoothing,
                                       policy::neighbour_count(count, policy::NeighbourRule::four_fifths))
            : policy::nearest_neighbours(samples(seen), wanted, settings)->value;
    made.push_back(estimate.value_or(0) / cost(wanted));
  }
  return made;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}
std::vector<double> errors(std::vector<double> values) {
  for (double& value : values) value = std::abs(value - 1);
  return values;
}

ReportTable forms(const ReproductionOptions& options, ReportPlot& plot) {
  ReportTable table{
      "forms",
      "Median of |estimate / truth - 1| by observations",
      {"observations", "form"},
      3,
      {},
      Verdict::reported,
      "the thesis gives figures without numbers; its printed weights (2.5) cannot have made them, since "
      "the estimate is some (k - 2m)^2 times too large and gets worse with every observation"};
  plot = {"errors", "Estimation error by observations", "observations", "median relative error", {}, true,
          true};
  const int trials = options.full ? 400 : 80;
  for (const auto& [form, name] :
       {std::pair{Form::corrected, "corrected, k = n^0.8"},
        std::pair{Form::square_root, "corrected, k = n^0.5"}, std::pair{Form::printed, "as printed"}}) {
    PlotSeries series{name, {}, "linespoints"};
    for (const std::size_t count : {10, 50, 100, 1000}) {
      const double error = median(errors(ratios(count, form, 0.1, 0, trials, options.seed)));
      table.rows.push_back({{std::to_string(count), name},
                            std::nullopt,
                            error,
                            Verdict::reported,
                            "5 % noise, two parameters"});
      series.points.emplace_back(static_cast<double>(count), error);
    }
    plot.series.push_back(std::move(series));
  }
  return table;
}

ReportTable smoothing(const ReproductionOptions& options) {
  ReportTable table{"smoothing",
                    "Mean of |estimate / truth - 1| by L, with 5 % outliers of 5 to 50 times",
                    {"L"},
                    3,
                    {},
                    Verdict::reported,
                    "nothing published in numbers; without smoothing outliers decide, a tenth is enough"};
  for (const double share : {0.0, 0.05, 0.1, 0.2}) {
    const std::vector<double> all =
        errors(ratios(200, Form::corrected, share, 0.05, options.full ? 400 : 100, options.seed));
    double mean = 0;
    for (const double one : all) mean += one / static_cast<double>(all.size());
    table.rows.push_back(
        {{fmt::format("{:g}", share)}, std::nullopt, mean, Verdict::reported, "200 observations"});
  }
  return table;
}

ReportTable table_2_1() {
  ReportTable table{
      "table21",
      "Table 2.1: processing to communication",
      {"problem"},
      2,
      {},
      Verdict::reproduced,
      "recomputed from the printed seconds; the small differences are the table's own roundings"};
  for (const PublishedProblem& problem : thesis_problems()) {
    const double ours = problem.computation / problem.communication;
    const bool same = std::abs(ours - problem.ratio) < 0.005 + 1e-9;
    table.rows.push_back(
        {{problem.name},
         problem.ratio,
         ours,
         std::abs(ours / problem.ratio - 1) < 0.006 ? Verdict::reproduced : Verdict::not_reproduced,
         same ? "" : "the printed ratio does not follow from the printed seconds to its last digits"});
  }
  return table;
}

Result<ReportSection> make(const ReproductionOptions& options) {
  ReportSection section;
  section.name = "estimation";
  section.title = "Estimates of task times (Page 2009)";
  section.introduction = fmt::format(
      "Nearest neighbours with L-smoothing, corrected and as printed, on random tasks of two parameters "
      "whose cost is "
      "quadratic in one of them. First seed {}.",
      options.seed);
  ReportPlot plot;
  section.tables.push_back(forms(options, plot));
  options.progress(0.7);
  section.tables.push_back(smoothing(options));
  section.tables.push_back(table_2_1());
  section.plots = {std::move(plot)};
  options.progress(1);
  return section;
}

}  // namespace

SectionEntry estimation_section() {
  return {"estimation", "Page 2009: estimates of task times", make};
}

}  // namespace gleaner::simulator
