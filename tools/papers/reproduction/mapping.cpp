// Page 2009: mapping tasks to hosts. Tables 3.2, 3.7 to 3.9 and 4.7, Figure 3.2; mapping_parts.h has more.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <map>

#include "server/policy/mapping/costs.h"
#include "server/policy/mapping/mapping.h"
#include "shared/base/check.h"
#include "shared/base/random.h"
#include "tools/papers/mapped_scenarios.h"
#include "tools/papers/reproduction/mapping_parts.h"

namespace gleaner::simulator {

Result<std::map<std::string, double>> ratios(const std::vector<std::string>& strategies, int seeds,
                                             const std::function<MappedGrid(std::uint64_t, bool)>& grid_of) {
  std::map<std::string, double> sums;
  for (int seed = 0; seed < seeds; ++seed) {
    for (const std::string& strategy : strategies) {
      MappedGrid grid = grid_of(static_cast<std::uint64_t>(seed), &strategy == &strategies.front());
      grid.strategy = strategy;
      TRY_ASSIGN(const MappedRun run, run_mapped(grid));
      sums[strategy] += run.makespan;
    }
  }
  const double first = sums[strategies.front()];
  for (auto& [strategy, sum] : sums) sum /= first;
  return sums;
}

namespace {

// Of a ratio to a reference: within a tenth; on the same side of 1 (or both within 3 % of it); neither.
Verdict judge(double published, double ours, std::string& why) {
  if (std::abs(ours / published - 1) <= 0.1) return Verdict::reproduced;
  const bool same_side =
      (published > 1) == (ours > 1) || (std::abs(published - 1) <= 0.03 && std::abs(ours - 1) <= 0.03);
  if (why.empty()) why = fmt::format("{:+.0f} % off", 100 * (ours / published - 1));
  if (same_side) {
    why += "; the reference is beaten, or beats, as published";
    return Verdict::ordering_reproduced;
  }
  why += "; the order is the other one";
  return Verdict::not_reproduced;
}

std::string share(const ReportTable& table) {
  std::array<int, 4> counts{};
  for (const ReportRow& row : table.rows) ++counts[static_cast<std::size_t>(row.verdict)];
  return fmt::format("{} of {} cells within a tenth, {} more in the published order", counts[0],
                     table.rows.size(), counts[1]);
}

Result<ReportTable> table_3_2(const ReproductionOptions& options) {
  ReportTable table{"table32", "Table 3.2: makespan over PN's", {"sizes", "strategy"}, 2, {}, {}, {}};
  struct Column {
    const char* name;
    Sizes sizes;
    std::array<double, 7> published;  // EF LL RR ZO PN MM MX, seconds
  };
  static const std::array<Column, 5> columns{{
      {"Poisson 10", Sizes::poisson_10, {6145, 7282, 9497, 6152, 3784, 5275, 7123}},
      {"Poisson 100", Sizes::poisson_100, {10993, 10820, 12773, 9361, 6884, 7425, 7826}},
      {"uniform 10-100", Sizes::uniform_10_100, {2316, 2588, 2990, 1869, 1565, 1576, 1795}},
      {"uniform 10-10000", Sizes::uniform_10_10000, {5607, 8194, 9760, 6679, 4318, 5451, 4875}},
      {"normal 1000", Sizes::normal_1000, {4946, 6049, 9812, 7189, 4083, 5102, 4906}},
  }};
  const std::vector<std::string> strategies{"pn,seeds=ef", "ef", "ll", "rr", "zo", "mm", "mx"};
  const std::array<std::size_t, 7> place{4, 0, 1, 2, 3, 5, 6};
  for (const Column& column : columns) {
    TRY_ASSIGN(auto ours, ratios(strategies, options.full ? 20 : 5, [&](std::uint64_t seed, bool first) {
                 MappedGrid grid = batch_grid(column.sizes, 1, options.seed + seed);
                 grid.communication_known = first;
                 return grid;
               }));
    for (std::size_t i = 1; i < strategies.size(); ++i) {
      const double published = column.published[place[i]] / column.published[4];
      ReportRow row{{column.name, strategies[i]}, published, ours[strategies[i]], Verdict::reported, {}};
      row.verdict = judge(published, *row.ours, row.why);
      table.rows.push_back(std::move(row));
    }
  }
  table.verdict = Verdict::ordering_reproduced;
  for (const ReportRow& row : table.rows) {
    if (row.verdict == Verdict::not_reproduced) table.verdict = Verdict::not_reproduced;
  }
  table.why =
      share(table) +
      ". The seconds cannot be had: the thesis gives no communication, and its columns contradict each "
      "other. Communication as long as computation in the mean, known to PN alone, was chosen because it "
      "comes near; that is no reproduction of the margins";
  return table;
}

Result<ReportTable> information(const ReproductionOptions& options) {
  ReportTable table{
      "information",
      "Why PN leads: earliest finish over PN",
      {"communication over computation", "known to"},
      3,
      {},
      Verdict::reported,
      "nothing published: PN's lead is that it alone knows communication times; told to all, a list "
      "heuristic is as good"};
  for (const double ratio : {0.0, 0.3, 1.0, 3.0}) {
    for (const bool all : {false, true}) {
      TRY_ASSIGN(auto ours,
                 ratios({"pn,seeds=ef", "ef"}, options.full ? 20 : 5, [&](std::uint64_t seed, bool first) {
                   MappedGrid grid = batch_grid(Sizes::normal_1000, ratio, options.seed + seed);
                   grid.communication_known = first || all;
                   return grid;
                 }));
      table.rows.push_back({{fmt::format("{:g}", ratio), all ? "all" : "PN alone"},
                            std::nullopt,
                            ours["ef"],
                            Verdict::reported,
                            "1000 normal tasks, 50 hosts"});
    }
  }
  return table;
}

ReportTable figure_3_2(const ReproductionOptions& options, ReportPlot& plot) {
  ReportTable table{"figure32",
                    "Figure 3.2: makespan after 1000 generations over the best initial one",
                    {"rebalances"},
                    2,
                    {},
                    {},
                    {}};
  const std::array<std::pair<int, double>, 3> published{{{0, 0.75}, {1, 0.70}, {50, 0.65}}};
  std::array<double, 3> ours{};
  const int seeds = options.full ? 10 : 1;
  plot = {"figure32", "Rebalancing (Figure 3.2)", "generations", "makespan over the initial one", {}, false,
          false};
  for (std::size_t i = 0; i < published.size(); ++i) {
    PlotSeries series{fmt::format("{} rebalances", published[i].first), {{0, 1}}, "linespoints"};
    for (const int generations : {0, 100, 300, 1000}) {
      double sum = 0;
      for (int seed = 0; seed < seeds; ++seed) {
        policy::MappingInput input;
        Random random(options.seed + static_cast<std::uint64_t>(seed));
        input.seed = random.next();
        for (int host = 0; host < 50; ++host) input.rates.push_back(30 + 120 * random.uniform());
        input.start.assign(50, 0);
        input.computation = policy::Matrix(500, 50);
        for (std::size_t task = 0; task < 500; ++task) {
          input.work.push_back(std::max(1.0, random.normal(1000, std::sqrt(9e5))));
          for (std::size_t host = 0; host < 50; ++host)
            input.computation(task, host) = input.work[task] / input.rates[host];
        }
        const auto run = [&](int most) {
          auto strategy = policy::make_mapping(
              fmt::format("pn,seeds=random,stagnation=0,mutation=constant,generations={},rebalances={}", most,
                          published[i].first));
          CHECK_TRUE(strategy.ok());
          return (*strategy)->generate(input).makespan;
        };
        sum += run(generations) / run(0) / seeds;
      }
      if (generations > 0) series.points.emplace_back(generations, sum);
      ours[i] = sum;
    }
    plot.series.push_back(std::move(series));
    options.progress(0.3 + 0.2 * static_cast<double>(i + 1) / 3);
  }
  const bool ordered = ours[0] > ours[1] && ours[1] > ours[2];
  for (std::size_t i = 0; i < published.size(); ++i) {
    table.rows.push_back(
        {{std::to_string(published[i].first)},
         published[i].second,
         ours[i],
         ordered ? Verdict::ordering_reproduced : Verdict::not_reproduced,
         "the percentage depends on the initial population and mutation, which are not given"});
  }
  table.verdict = ordered ? Verdict::ordering_reproduced : Verdict::not_reproduced;
  table.why = ordered ? "50 rebalances beat 1, and 1 beats none; ours gain more, from a worse start"
                      : "the order of 50, 1 and 0 rebalances is another one";
  return table;
}

Result<ReportTable> table_4_7(const ReproductionOptions& options) {
  ReportTable table{"table47", "Table 4.7: makespan over FA's", {"strategy"}, 2, {}, {}, {}};
  struct Row {
    const char* strategy;
    std::optional<double> published;  // seconds
  };
  static const std::vector<Row> rows{{"fa", 3505},
                                     {"fa,literal=true", {}},
                                     {"fe,beta=1", 6202},
                                     {"fe,beta=1,error_weight=et", {}},
                                     {"fz,beta=0.1", 2408},
                                     {"fz,beta=0.1,literal=true", {}},
                                     {"la", 4114},
                                     {"le,beta=0.1", 17013},
                                     {"lz,beta=0.1", 12138},
                                     {"sb", 24188},
                                     {"se,beta=0.1", 12553},
                                     {"sz,beta=0.1", 13349},
                                     {"ta", 2351},
                                     {"sa", 9252},
                                     {"ll", 3066},
                                     {"ef", 3096},
                                     {"rr", 6176},
                                     {"mxc", {}},
                                     {"pn", {}}};
  std::vector<std::string> strategies;
  for (const Row& row : rows) strategies.emplace_back(row.strategy);
  TRY_ASSIGN(auto ours, ratios(strategies, options.full ? 14 : 1,
                               [&](std::uint64_t seed, bool) { return staged_grid(options.seed + seed); }));
  for (const Row& row : rows) {
    ReportRow made{{row.strategy}, {}, ours[row.strategy], Verdict::reported, "not in the published table"};
    if (row.published) {
      made.published = *row.published / 3505;
      made.why.clear();
      made.verdict = judge(*made.published, *made.ours, made.why);
    }
    table.rows.push_back(std::move(made));
  }
  const bool gates = ours["fe,beta=1"] >= 1.5 && ours["rr"] >= 1.5 && ours["ef"] <= 1;
  table.verdict = Verdict::not_reproduced;
  table.why = fmt::format(
      "{}: FE bad, EF better and RR worse than FA {}; the published gain of FZ (31 %) and the good place of "
      "LL are "
      "not there. Run-to-run noise is about 8 %",
      share(table), gates ? "as published" : "not even in this run");
  return table;
}

Result<ReportTable> tables_3_7(const ReproductionOptions& options) {
  ReportTable table{
      "tables37to39", "Tables 3.7, 3.8 and 3.9: makespan over PN's", {"hosts", "strategy"}, 2, {}, {}, {}};
  struct Column {
    const char* name;
    std::array<double, 9> published;  // PN ZO TA SA MX MM LL EF RR; 0: not printed
  };
  static const std::array<Column, 3> columns{{
      {"high heterogeneity", {9144, 14278, 16378, 21260, 15486, 18321, 19645, 14492, 20314}},
      {"low heterogeneity", {8437, 8593, 8767, 9564, 9065, 8860, 9053, 8602, 8812}},
      {"homogeneous", {10408, 9969, 10126, 10351, 12034, 13788, 13841, 13836, 0}},
  }};
  const std::vector<std::string> strategies{"pn", "zo", "ta", "sa", "mx", "mm", "ll", "ef", "rr"};
  for (std::size_t c = 0; c < columns.size(); ++c) {
    TRY_ASSIGN(auto ours, ratios(strategies, options.full ? 8 : 1, [&](std::uint64_t seed, bool) {
                 return c == 0   ? staged_grid(options.seed + seed)
                        : c == 1 ? even_grid(95, 125, options.seed + seed)
                                 : even_grid(110, 110, options.seed + seed);
               }));
    for (std::size_t i = 1; i < strategies.size(); ++i) {
      if (columns[c].published[i] == 0) continue;
      const double published = columns[c].published[i] / columns[c].published[0];
      ReportRow row{{columns[c].name, strategies[i]}, published, ours[strategies[i]], Verdict::reported, {}};
      row.verdict = judge(published, *row.ours, row.why);
      table.rows.push_back(std::move(row));
    }
  }
  table.verdict = Verdict::not_reproduced;
  table.why =
      share(table) +
      ". Hosts, staging and the tuning of SA and TA are not given, so chapter 4's problems were taken; the "
      "printed inefficiencies of Table 3.9 do not follow from its seconds (PN loses 4.4 % to ZO, not 1)";
  return table;
}

Result<ReportSection> make(const ReproductionOptions& options) {
  ReportSection section;
  section.name = "mapping";
  section.title = "Mapping tasks to hosts (Page 2009)";
  section.introduction = fmt::format(
      "The library's own strategies in virtual time. Chapter 3: 50 hosts of 30 to 150 MFLOP/s, 1000 tasks in "
      "batches "
      "of 200, communication known to PN alone. Chapter 4: 45 slow and 45 fast hosts, a quarter of Table "
      "2.1, two "
      "problems in stages, estimates that improve with observations, polling every minute, remapping. Means "
      "of paired "
      "runs; first seed {}.",
      options.seed);
  TRY_ASSIGN(ReportTable batches, table_3_2(options));
  options.progress(0.2);
  TRY_ASSIGN(ReportTable known, information(options));
  options.progress(0.3);
  ReportPlot plot;
  ReportTable rebalancing = figure_3_2(options, plot);
  options.progress(0.5);
  TRY_ASSIGN(ReportTable heterogeneity, tables_3_7(options));
  options.progress(0.7);
  TRY_ASSIGN(ReportTable errors, table_4_7(options));
  options.progress(0.9);
  TRY_ASSIGN(ReportTable weights, table_4_9(options));
  ReportPlot idle;
  TRY_ASSIGN(ReportTable ramp, figure_3_13(options, idle));
  options.progress(1);
  section.tables = {std::move(batches), std::move(known),   std::move(rebalancing), std::move(heterogeneity),
                    std::move(errors),  std::move(weights), std::move(ramp)};
  section.plots = {std::move(plot), std::move(idle)};
  section.notes = {
      "The quick form runs one seed of chapter 4 and of Figure 3.2: its single cells are noise within some 8 "
      "%; the "
      "full form runs 8 to 14.",
      "Gated in the tests: PN leads where it alone knows communication, its lead grows with it, and is gone "
      "where all "
      "know; 50 rebalances beat 1 beat 0; FE with beta 1 is at least half longer than FA, FZ with 0.1 within "
      "5 %, EF "
      "and the literal algorithm 4.1 not longer, RR at least half longer.",
      "FE is bad because its weight contains 1/ETC, which rewards slow hosts, even where nothing is known of "
      "errors: "
      "with the error alone (error_weight=et) it is as good as FA."};
  return section;
}

}  // namespace

SectionEntry mapping_section() {
  return {"mapping", "Page 2009: tasks to hosts", make};
}

}  // namespace gleaner::simulator
