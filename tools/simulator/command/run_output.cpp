#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "shared/json/text.h"
#include "tools/simulator/command/run.h"
#include "tools/simulator/scenario/statistics.h"

namespace gleaner::simulator {
namespace {

struct Figure {
  const char* name;
  double (*of)(const Outcome& outcome);
};

double per_slot(std::int64_t count, const Outcome& outcome) {
  return static_cast<double>(count) / static_cast<double>(outcome.slots);
}

// Figures that get a mean over seeds; all but the last few are wanted small.
const Figure figures[] = {
    {"ratio", [](const Outcome& o) { return o.ratio; }},
    {"t95", [](const Outcome& o) { return o.t95; }},
    {"t100_t95", [](const Outcome& o) { return o.t95 > 0 ? o.ratio / o.t95 : 0; }},
    {"waste", [](const Outcome& o) { return o.waste; }},
    {"units_per_slot", [](const Outcome& o) { return per_slot(o.grants, o); }},
    {"requests_per_slot", [](const Outcome& o) { return per_slot(o.requests, o); }},
    {"makespan", [](const Outcome& o) { return o.makespan; }},
    {"ideal", [](const Outcome& o) { return o.ideal; }},
    {"speedup", [](const Outcome& o) { return o.speedup; }},
    {"efficiency", [](const Outcome& o) { return o.efficiency; }},
    {"idle_hours", [](const Outcome& o) { return o.idle_hours; }},
    {"kilowatt_hours", [](const Outcome& o) { return o.kilowatt_hours; }},
    {"splits", [](const Outcome& o) { return static_cast<double>(o.splits); }},
    {"recovered", [](const Outcome& o) { return static_cast<double>(o.recovered); }},
    {"copies", [](const Outcome& o) { return static_cast<double>(o.copies); }},
    {"wrong_items", [](const Outcome& o) { return static_cast<double>(o.wrong_items); }},
    {"events_per_second", [](const Outcome& o) { return static_cast<double>(o.events) / o.seconds; }},
};

std::vector<Outcome> of_variant(const std::vector<Outcome>& outcomes, std::size_t variant) {
  std::vector<Outcome> mine;
  std::copy_if(outcomes.begin(), outcomes.end(), std::back_inserter(mine),
               [&](const Outcome& outcome) { return outcome.variant == variant; });
  return mine;
}

std::vector<double> values_of(const std::vector<Outcome>& outcomes, const Figure& figure) {
  std::vector<double> values;
  for (const Outcome& outcome : outcomes) values.push_back(figure.of(outcome));
  return values;
}

Mean figure_of(const std::vector<Outcome>& outcomes, const char* name) {
  for (const Figure& figure : figures) {
    if (std::string_view(figure.name) == name) return mean_of(values_of(outcomes, figure));
  }
  CHECK_TRUE(false);
  return {};
}

const Outcome& worst_of(const std::vector<Outcome>& outcomes) {
  return *std::max_element(outcomes.begin(), outcomes.end(),
                           [](const Outcome& a, const Outcome& b) { return a.ratio < b.ratio; });
}

// When each problem ended, and when it would at best by its share.
void print_problems(std::ostream& out, const Experiment& experiment, const std::vector<Outcome>& outcomes) {
  const auto& problems = experiment.scenario.problems;
  if (problems.size() < 2) return;
  out << fmt::format("\n{:<34} {:<20} {:>8} {:>12} {:>12} {:>8}\n", "strategy, straggler", "problem",
                     "weight", "ended", "fair end", "ratio");
  for (std::size_t variant = 0; variant < experiment.variants.size(); ++variant) {
    const auto mine = of_variant(outcomes, variant);
    for (std::size_t i = 0; i < problems.size(); ++i) {
      std::vector<double> ended, fair, ratio;
      for (const Outcome& outcome : mine) {
        const ProblemOutcome& problem = outcome.problems[i];
        ended.push_back(problem.ended_at);
        fair.push_back(problem.fair_end);
        ratio.push_back(problem.ended_at / problem.fair_end);
      }
      out << fmt::format(
          "{:<34} {:<20} {:>8} {:>12.1f} {:>12.1f} {:>8.3f}\n",
          experiment.variants[variant].strategy + ", " + experiment.variants[variant].straggler,
          problems[i].name, problems[i].weight, mean_of(ended).mean, mean_of(fair).mean, mean_of(ratio).mean);
    }
  }
}

}  // namespace

void print_table(std::ostream& out, const Experiment& experiment, const std::vector<Outcome>& outcomes) {
  const Outcome& first = outcomes.front();
  out << fmt::format("{}: {} hosts, {} slots, {} items, ideal {:.0f} s, seeds {} to {}\n\n",
                     experiment.scenario.name, first.hosts, first.slots, first.items, first.ideal,
                     experiment.first_seed, experiment.last_seed);
  out << fmt::format("{:<34} {:>10} {:>15} {:>12} {:>14} {:>15} {:>10} {:>9}\n", "strategy, straggler",
                     "makespan", "ratio", "worst (seed)", "T95", "waste %", "units/slot", "req/slot");
  for (std::size_t variant = 0; variant < experiment.variants.size(); ++variant) {
    const auto mine = of_variant(outcomes, variant);
    const Outcome& worst = worst_of(mine);
    const Mean ratio = figure_of(mine, "ratio"), t95 = figure_of(mine, "t95"),
               waste = figure_of(mine, "waste");
    const double energy = figure_of(mine, "kilowatt_hours").mean;
    const auto cut = std::count_if(mine.begin(), mine.end(), [](const Outcome& o) { return !o.complete; });
    out << fmt::format(
        "{:<34} {:>10.1f} {:>8.4f} ±{:.4f} {:>6.3f} ({:>3}) {:>6.3f} ±{:.3f} {:>8.3f} ±{:.3f} "
        "{:>10.1f} {:>9.1f}{}\n",
        experiment.variants[variant].strategy + ", " + experiment.variants[variant].straggler,
        figure_of(mine, "makespan").mean, ratio.mean, ratio.half, worst.ratio, worst.seed, t95.mean, t95.half,
        100 * waste.mean, 100 * waste.half, figure_of(mine, "units_per_slot").mean,
        figure_of(mine, "requests_per_slot").mean,
        (energy > 0 ? fmt::format("  {:.3f} kWh", energy) : "") +
            (cut > 0 ? fmt::format("  {} incomplete", cut) : ""));
  }
  print_problems(out, experiment, outcomes);
}

void print_json(std::ostream& out, const Experiment& experiment, const std::vector<Outcome>& outcomes) {
  json::Value document{{"scenario", experiment.scenario.name},
                       {"seeds", json::Value::array({experiment.first_seed, experiment.last_seed})}};
  for (std::size_t variant = 0; variant < experiment.variants.size(); ++variant) {
    const auto mine = of_variant(outcomes, variant);
    json::Value entry{{"strategy", experiment.variants[variant].strategy},
                      {"straggler", experiment.variants[variant].straggler}};
    const Outcome& worst = worst_of(mine);
    entry["worst"] = {{"ratio", worst.ratio}, {"seed", worst.seed}};
    for (const Figure& figure : figures) {
      const Mean mean = mean_of(values_of(mine, figure));
      entry["mean"][figure.name] = mean.mean;
      entry["half_width_95"][figure.name] = mean.half;
    }
    for (const Outcome& outcome : mine) {
      json::Value run{{"seed", outcome.seed},   {"complete", outcome.complete},
                      {"hosts", outcome.hosts}, {"slots", outcome.slots},
                      {"items", outcome.items}, {"requests", outcome.requests},
                      {"units", outcome.grants}};
      for (const Figure& figure : figures) run[figure.name] = figure.of(outcome);
      for (std::size_t i = 0; i < outcome.problems.size() && outcome.problems.size() > 1; ++i) {
        const ProblemOutcome& problem = outcome.problems[i];
        run["problems"].push_back(json::Value{{"name", experiment.scenario.problems[i].name},
                                              {"items", problem.items},
                                              {"complete", problem.complete},
                                              {"ended", problem.ended_at},
                                              {"fair_end", problem.fair_end}});
      }
      entry["runs"].push_back(run);
    }
    document["strategies"].push_back(entry);
  }
  out << json::write(document, {2}) << '\n';
}

std::string csv_of(const Experiment& experiment, const std::vector<Outcome>& outcomes) {
  std::string text = "scenario,strategy,straggler,seed,complete,hosts,slots,items";
  for (const Figure& figure : figures) text += std::string(",") + figure.name;
  text += '\n';
  for (const Outcome& outcome : outcomes) {
    const Variant& variant = experiment.variants[outcome.variant];
    text += fmt::format("{},\"{}\",{},{},{},{},{},{}", experiment.scenario.name, variant.strategy,
                        variant.straggler, outcome.seed, outcome.complete ? 1 : 0, outcome.hosts,
                        outcome.slots, outcome.items);
    for (const Figure& figure : figures) text += fmt::format(",{:.9g}", figure.of(outcome));
    text += '\n';
  }
  return text;
}

}  // namespace gleaner::simulator
