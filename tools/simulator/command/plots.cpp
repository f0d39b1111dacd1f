#include "tools/simulator/command/plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tools/papers/report/plot.h"

namespace gleaner::simulator {
namespace {

constexpr std::uint32_t gantt_hosts_max = 40;
constexpr policy::UnitKind kinds[] = {policy::UnitKind::fresh, policy::UnitKind::recover,
                                      policy::UnitKind::split, policy::UnitKind::copy,
                                      policy::UnitKind::flood, policy::UnitKind::check};

ReportPlot idle_plot(const Detail& detail, const std::string& stem, const std::string& title) {
  ReportPlot plot;
  plot.name = stem + "_idle";
  plot.title = title + ": slots over time";
  plot.x_label = "seconds";
  plot.y_label = "slots";
  PlotSeries able{"could compute", {}, "steps"}, busy{"have a unit", {}, "steps"}, idle{"idle", {}, "steps"};
  for (const GridSample& sample : detail.run.samples) {
    able.points.emplace_back(sample.at, sample.able);
    busy.points.emplace_back(sample.at, sample.busy);
    idle.points.emplace_back(sample.at, sample.able - sample.busy);
  }
  plot.series = {able, busy, idle};
  return plot;
}

ReportPlot sizes_plot(const Detail& detail, const std::string& stem, const std::string& title) {
  ReportPlot plot;
  plot.name = stem + "_sizes";
  plot.title = title + ": unit sizes over requests";
  plot.x_label = "request that got a unit";
  plot.y_label = "items";
  plot.log_y = true;
  for (const policy::UnitKind kind : kinds) {
    PlotSeries series{name_of(kind), {}, "points"};
    for (std::size_t i = 0; i < detail.run.grants_made.size(); ++i) {
      const GridGrant& grant = detail.run.grants_made[i];
      if (grant.kind == kind) series.points.emplace_back(i + 1, grant.items);
    }
    if (!series.points.empty()) plot.series.push_back(std::move(series));
  }
  return plot;
}

// Rows are slots, from the first host on; colours are kinds of units.
Status write_gantt(const Detail& detail, const io::Path& directory, const std::string& stem,
                   const std::string& title) {
  std::vector<std::int64_t> first_row(detail.hosts.size() + 1, 1);
  for (std::size_t i = 0; i < detail.hosts.size(); ++i)
    first_row[i + 1] = first_row[i] + detail.hosts[i].slots;
  std::string csv = "row,from,to,kind,host\n";
  for (const GridSpan& span : detail.run.spans) {
    if (span.host >= gantt_hosts_max) continue;
    csv += fmt::format("{},{:.3f},{:.3f},{},{}\n", first_row[span.host] + span.slot, span.from, span.to,
                       static_cast<int>(span.kind), span.host + 1);
  }
  std::string script = fmt::format(
      "set terminal svg size 1000,700 background 'white'\nset output '{0}.svg'\nset datafile separator ','\n"
      "set title '{1}: units in hand (slots of the first {2} hosts)' noenhanced\nset xlabel 'seconds'\n"
      "set ylabel 'slot'\nset key outside\nplot ",
      stem, title, std::min<std::size_t>(gantt_hosts_max, detail.hosts.size()));
  bool any = false;
  for (const policy::UnitKind kind : kinds) {
    const bool there = std::any_of(detail.run.spans.begin(), detail.run.spans.end(), [&](const GridSpan& s) {
      return s.kind == kind && s.host < gantt_hosts_max;
    });
    if (!there) continue;
    script += fmt::format(
        "{}'{}.csv' every ::1 using 2:($4=={} ? $1 : 1/0):($3-$2):(0) with vectors nohead lw 3 "
        "lc {} title '{}'",
        any ? ", \\\n  " : "", stem, static_cast<int>(kind), static_cast<int>(kind), name_of(kind));
    any = true;
  }
  script += "\n";
  TRY(io::real_files().write(directory / (stem + ".csv"), csv, io::Mode::normal));
  TRY(io::real_files().write(directory / (stem + ".gp"), script, io::Mode::normal));
  return any ? run_gnuplot(directory, stem + ".gp") : Status();
}

}  // namespace

Status write_plots(const Detail& detail, const io::Path& directory, const std::string& stem,
                   const std::string& title) {
  TRY(write_plot(idle_plot(detail, stem, title), directory, stem + "_idle"));
  TRY(write_plot(sizes_plot(detail, stem, title), directory, stem + "_sizes"));
  return write_gantt(detail, directory, stem + "_gantt", title);
}

std::string hosts_csv(const Detail& detail) {
  std::string text = "host,class,slots,speed,units,items,work,share,dry_at\n";
  double work = 0;
  for (const GridHostResult& result : detail.run.hosts) work += result.work;
  for (std::size_t i = 0; i < detail.hosts.size(); ++i) {
    const GridHost& host = detail.hosts[i];
    const GridHostResult& result = detail.run.hosts[i];
    text +=
        fmt::format("{},{},{},{:.6g},{},{},{:.6g},{:.6g},{:.3f}\n", i + 1,
                    host.owner ? name_of(host.owner->kind) : "listed", host.slots, host.speed, result.units,
                    result.items, result.work, work > 0 ? result.work / work : 0, result.dry_at);
  }
  return text;
}

}  // namespace gleaner::simulator
