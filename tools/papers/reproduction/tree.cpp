// Banino-Rokkones, Beaumont and Natvig: five heuristics on random trees, static and changing, with small and
// large results.
#include "tools/papers/tree_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "tools/papers/reproduction/sections.h"

namespace gleaner::simulator {
namespace {

constexpr std::array rules{"round-robin", "otf", "fifo", "bc", "geo"};
constexpr int quick_trees = 50, full_trees = 400;
constexpr double close = 0.03;  // of the optimum: what we call competing

using Studies = std::map<std::pair<std::string, std::string>, TreeStudy>;  // scenario, rule

double at_90(const Studies& studies, const std::string& scenario, const std::string& rule) {
  return studies.at({scenario, rule}).mean().at_90;
}

// "+0.045 +- 0.015".
std::string text_of(const Difference& difference) {
  return fmt::format("{:+.3f} +- {:.3f}", difference.mean, difference.error);
}

struct Claims {
  const Studies& studies;
  ReportTable table{
      "claims",
      "The paper's claims (differences of the rate at 90 % of the time)",
      {"claim", "scenario"},
      3,
      {},
      Verdict::reported,
      "the paper shows its rates in a figure only, so its sentences are judged; +- is a standard "
      "error of the mean over trees"};

  [[nodiscard]] Difference difference(const std::string& scenario, const std::string& a,
                                      const std::string& b) const {
    return paired(studies.at({scenario, a}), studies.at({scenario, b}));
  }
  void add(const std::string& claim, const std::string& scenario, double ours, bool holds, std::string why) {
    table.rows.push_back({{claim, scenario},
                          std::nullopt,
                          ours,
                          holds ? Verdict::ordering_reproduced : Verdict::not_reproduced,
                          std::move(why)});
  }
};

void add_static_claims(Claims& claims) {
  for (const std::string scenario : {"static 1000", "static 1"}) {
    const Difference geo = claims.difference(scenario, "geo", "otf");
    claims.add("Geo competes with the centralised OTF", scenario, geo.mean, geo.mean > -close,
               "Geo - OTF " + text_of(geo));
    const Difference bc = claims.difference(scenario, "bc", "otf");
    claims.add("BC competes with the centralised OTF", scenario, bc.mean, bc.mean > -close,
               "BC - OTF " + text_of(bc));
    for (const std::string rule : {"otf", "round-robin"}) {
      std::string rival = "fifo";
      for (const std::string other : {"bc", "geo"}) {
        if (at_90(claims.studies, scenario, other) > at_90(claims.studies, scenario, rival)) rival = other;
      }
      const Difference ahead = claims.difference(scenario, rule, rival);
      claims.add("the centralised " + rule + " is not behind any decentralised rule", scenario, ahead.mean,
                 ahead.mean > -2 * ahead.error, rule + " - " + rival + " " + text_of(ahead));
    }
  }
}

void add_result_claims(Claims& claims) {
  for (const char* rule : rules) {
    const double change =
        at_90(claims.studies, "static 1", rule) - at_90(claims.studies, "static 1000", rule);
    const bool rises = std::string(rule) == "fifo";
    claims.add(std::string(rule) + (rises ? " rises" : " falls") + " when results are as large as tasks",
               "static", change, rises ? change > 0 : change < 0,
               fmt::format("{:+.3f} from t/r 1000 to 1", change));
  }
  const Difference small = claims.difference("static 1000", "geo", "bc");
  claims.add("Geo is BC when results are small", "static 1000", small.mean, std::abs(small.mean) < 0.005,
             "Geo - BC " + text_of(small));
  const Difference large = claims.difference("static 1", "geo", "bc");
  claims.add("Geo departs from BC when results are large", "static 1", large.mean,
             large.mean > 2 * large.error, "Geo - BC " + text_of(large));
}

// Reported only: it could not be reproduced and is no gate (shared/planning/PLANNING.md).
void add_dynamic_claims(Claims& claims) {
  for (const std::string scenario : {"dynamic 1000", "dynamic 1"}) {
    for (const std::string rule : {"otf", "round-robin"}) {
      const Difference behind = claims.difference(scenario, rule, "fifo");
      claims.add("the centralised " + rule + " is worse than FIFO", scenario, behind.mean,
                 behind.mean < -2 * behind.error, rule + " - FIFO " + text_of(behind));
    }
  }
}

Result<ReportSection> make(const ReproductionOptions& options) {
  ReportSection section;
  section.name = "tree";
  section.title = "Tasking on trees with results (Banino-Rokkones, Beaumont, Natvig)";
  const int trees = options.full ? full_trees : quick_trees;
  section.introduction = fmt::format(
      "{} random trees of 100 nodes (seeds {} to {}), 2500 tasks (round robin 7500); rates are relative to "
      "the "
      "optimum of the linear program, on changing platforms to the mean optimum of 12 snapshots. What the "
      "paper "
      "leaves open is decided as tools/papers/tree.h and tree_platform.h say.",
      trees, options.seed, options.seed + static_cast<std::uint64_t>(trees) - 1);
  Studies studies;
  double done = 0;
  ReportTable rates{
      "rates",           "Rates by 50, 90 and 100 % of the time", {"scenario", "rule", "time"}, 3, {},
      Verdict::reported, "Figure 3's numbers are not printed"};
  for (const TreeScenario& scenario : tree_scenarios()) {
    ReportPlot plot{
        scenario.name, "Rate over time, " + scenario.name, "share of the time", "rate / optimum", {}};
    std::replace(plot.name.begin(), plot.name.end(), ' ', '_');
    for (const char* rule : rules) {
      TRY_ASSIGN(auto study, study_trees(scenario, rule, options.seed, trees));
      const TreeScore mean = study.mean();
      const std::array<std::pair<double, double>, 3> points{
          {{0.5, mean.at_half}, {0.9, mean.at_90}, {1.0, mean.at_end}}};
      for (const auto& [time, rate] : points)
        rates.rows.push_back({{scenario.name, rule, fmt::format("{:.0f} %", 100 * time)},
                              std::nullopt,
                              rate,
                              Verdict::reported,
                              "mean over the trees"});
      plot.series.push_back({rule, {points.begin(), points.end()}});
      studies.emplace(std::pair{scenario.name, std::string(rule)}, std::move(study));
      options.progress(done += 1.0 / (4 * static_cast<double>(rules.size())));
    }
    section.plots.push_back(std::move(plot));
  }
  section.tables.push_back(std::move(rates));
  Claims claims{studies};
  add_static_claims(claims);
  add_result_claims(claims);
  add_dynamic_claims(claims);
  section.tables.push_back(std::move(claims.table));
  section.notes = {
      "That the centralised rules are worst on changing platforms is reported and is no gate: we cannot "
      "reproduce "
      "it.",
      "The optimum of snapshots is no bound: buffers let a node use a link while it is fast.",
      "FIFO's rise depends on the result's time being drawn independently of the task's."};
  return section;
}

}  // namespace

SectionEntry tree_section() {
  return {"tree", "the four scenarios of Banino-Rokkones, Beaumont and Natvig", make};
}

}  // namespace gleaner::simulator
