// Qureshi and Hatanaka 1999: static, RTS, MIS and WIS on 4 to 20 machines. Machines and
// acceptance criteria A1-A5 (wis_gates.h) are those of server/policy/sizing/SIZING.md.
#include <fmt/format.h>

#include <cmath>

#include "server/policy/sizing/rules.h"
#include "tools/papers/reproduction/sections.h"
#include "tools/papers/reproduction/wis_gates.h"
#include "tools/papers/reproduction/wis_machines.h"
#include "tools/papers/reproduction/wis_published.h"

namespace gleaner::simulator {
namespace {

namespace published = wis_published;

double scene_mean(const std::array<double, 4>& scenes) {
  return (scenes[0] + scenes[1] + scenes[2] + scenes[3]) / 4;
}

// Within a tenth: reproduced; within a quarter: only the ordering is claimed.
void judge(ReportRow& row, const std::string& doubt) {
  const double off = *row.ours / *row.published - 1;
  if (std::abs(off) <= 0.10) {
    row.verdict = Verdict::reproduced;
    return;
  }
  row.verdict = std::abs(off) <= 0.25 ? Verdict::ordering_reproduced : Verdict::not_reproduced;
  row.why = fmt::format("{:+.0f} %; {}", 100 * off, doubt);
}

ReportTable table_3(const WisExperiment& experiment, const char* name, const char* title) {
  ReportTable table{name, title, {"strategy", "machines"}, 0, {}, {}, {}};
  for (std::size_t s = 0; s < 4; ++s) {
    for (std::size_t m = 0; m < 5; ++m) {
      ReportRow row{{published::strategies[s], std::to_string(published::machines[m])},
                    published::requests[s][m],
                    scene_mean(experiment.requests[s][m]),
                    {},
                    {}};
      judge(row, s == 2 ? "equation (8) is lost, ours is a fit"
                        : "which of two readings of the rule was run is not said");
      table.rows.push_back(std::move(row));
    }
  }
  const Gate a1 = gate_a1(experiment), a2 = gate_a2(experiment), a3 = gate_a3(experiment);
  table.verdict = a1.holds && a2.holds && a3.holds ? Verdict::ordering_reproduced : Verdict::not_reproduced;
  table.why = fmt::format("A1 {}, A2 {}, A3 {}", a1.said(), a2.said(), a3.said());
  return table;
}

ReportTable table_4(const WisExperiment& experiment) {
  ReportTable table{"table4", "Table 4: speed-ups", {"strategy", "machines", "scene"}, 1, {}, {}, {}};
  for (std::size_t s = 0; s < 4; ++s) {
    for (std::size_t m = 0; m < 5; ++m) {
      for (std::size_t scene = 0; scene < 4; ++scene) {
        ReportRow row{
            {published::strategies[s], std::to_string(published::machines[m]), published::scenes[scene]},
            published::speedup[s][m][scene],
            experiment.speedup[s][m][scene],
            {},
            {}};
        judge(row, "the machines are read from this table, their loads are not printed");
        table.rows.push_back(std::move(row));
      }
    }
  }
  const Gate a4 = gate_a4(experiment);
  table.verdict = a4.holds ? Verdict::ordering_reproduced : Verdict::not_reproduced;
  table.why = "A4 " + a4.said();
  return table;
}

ReportTable figure_8(const WisExperiment& experiment) {
  ReportTable table{"fig8", "Fig. 8: idle cost of all workers (s)", {"strategy", "machines"}, 1, {}, {}, {}};
  for (std::size_t s = 1; s < 4; ++s) {
    for (std::size_t m = 0; m < 5; ++m) {
      table.rows.push_back(
          {{published::strategies[s], std::to_string(published::machines[m])},
           {},
           scene_mean(experiment.idle[s][m]),
           Verdict::reported,
           "the figure is lost; its text gives a fall of 43 % against RTS, and ours falls more"});
    }
  }
  const Gate a5 = gate_a5(experiment);
  table.verdict = a5.holds ? Verdict::ordering_reproduced : Verdict::not_reproduced;
  table.why = "A5 " + a5.said();
  return table;
}

ReportPlot figure_2() {
  ReportPlot plot{"fig2", "Fig. 2: F over a worker's requests", "request R", "F", {}, false, false};
  for (const int machines : published::machines) {
    PlotSeries series{fmt::format("K = {}", machines), {}};
    for (int request = 1; request <= 20; ++request) {
      series.points.emplace_back(request, policy::multiplication_factor(0.35, machines, request));
    }
    plot.series.push_back(std::move(series));
  }
  return plot;
}

// Sizes that the fastest and a slow worker got, one after the other (20 machines, scene C).
Result<ReportPlot> figure_3(const std::string& name, const std::string& strategy,
                            const WisSettings& settings) {
  ReportPlot plot{name,      fmt::format("Fig. {}: sizes of two workers, {}", name.substr(3), strategy),
                  "request", "lines",
                  {},        false,
                  false};
  TRY_ASSIGN(const PaperRun run,
             run_paper(wis_instance(strategy, 20, 2, settings.load_seeds.front(), 1, settings)));
  for (const int host : {0, 8}) {
    PlotSeries series{host == 0 ? "a worker of speed 1" : "of speed 0.35", {}};
    for (const PaperGrant& grant : run.grants) {
      if (grant.host != host || grant.copy) continue;
      series.points.emplace_back(static_cast<double>(series.points.size() + 1),
                                 static_cast<double>(grant.count));
    }
    plot.series.push_back(std::move(series));
  }
  return plot;
}

ReportPlot over_machines(const std::string& name, const std::string& title, const std::string& what,
                         const WisCells<double>& cells) {
  ReportPlot plot{name, title, "machines", what, {}, false, false};
  for (std::size_t s = 0; s < 4; ++s) {
    PlotSeries series{published::strategies[s], {}};
    for (std::size_t m = 0; m < 5; ++m)
      series.points.emplace_back(published::machines[m], scene_mean(cells[s][m]));
    plot.series.push_back(std::move(series));
  }
  return plot;
}

Result<ReportSection> make(const ReproductionOptions& options) {
  WisSettings settings;
  settings.load_seeds.clear();
  for (std::uint64_t i = 0; i < (options.full ? 40U : 4U); ++i)
    settings.load_seeds.push_back(options.seed + i);
  TRY_ASSIGN(const WisExperiment loaded,
             run_wis_experiment(settings, [&](double share) { options.progress(share * 0.8); }));
  TRY_ASSIGN(const WisExperiment quiet, run_wis_experiment(undisturbed(), [](double) {}));
  ReportSection section;
  section.name = "wis";
  section.title = "Static, RTS, MIS and WIS (Qureshi and Hatanaka 1999)";
  section.introduction = fmt::format(
      "640 scan-lines of four scenes on 4 to 20 machines with a serial master, latency and foreign load, all "
      "read from Table 4 or fitted to it, so that agreement with that table is no independent test. Means "
      "over load seeds {} to {} and {} draws of the machines' benchmark errors. Request counts include "
      "copies "
      "and are means over the scenes. Whether the paper counted on idle machines is not said: both are "
      "shown. "
      "On idle ones WIS asks for half a request more than MIS with 4 machines.",
      settings.load_seeds.front(), settings.load_seeds.back(), settings.machine_seeds.size());
  section.tables = {table_3(loaded, "table3", "Table 3: requests"),
                    table_3(quiet, "table3_quiet", "Table 3 without foreign load and benchmark errors"),
                    table_4(loaded), figure_8(loaded)};
  section.plots.push_back(figure_2());
  TRY_ASSIGN(ReportPlot mis, figure_3("fig3a", "mis", settings));
  TRY_ASSIGN(ReportPlot wis, figure_3("fig3b", "wis", settings));
  section.plots.push_back(std::move(mis));
  section.plots.push_back(std::move(wis));
  section.plots.push_back(
      over_machines("speedup", "Table 4: speed-up, mean of the scenes", "speed-up", loaded.speedup));
  section.plots.push_back(over_machines("fig8", "Fig. 8: idle cost of all workers", "s", loaded.idle));
  section.notes.push_back(
      fmt::format("A4w, reported and not gated: WIS over MIS is {:.3f} in the mean (published 1.08): that "
                  "WIS gains over MIS is only weakly reproduced.",
                  mean_ratio(loaded, 3, 2)));
  section.notes.emplace_back(
      "The paper's percentages contradict its own Table 4; the table is compared with, never the "
      "percentages.");
  options.progress(1);
  return section;
}

}  // namespace

SectionEntry wis_section() {
  return {"wis", "Tables 3 and 4, Figs 2, 3 and 8 of Qureshi and Hatanaka", make};
}

}  // namespace gleaner::simulator
