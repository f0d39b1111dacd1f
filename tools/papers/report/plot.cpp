#include "tools/papers/report/plot.h"

#include <fmt/format.h>

#include "shared/io/gnuplot.h"
#include "shared/io/process.h"

namespace gleaner::simulator {
namespace {

std::string script_of(const ReportPlot& plot, const std::string& stem) {
  std::string text;
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    text += fmt::format("$series{} << EOD\n", i);
    for (const auto& [x, y] : plot.series[i].points) text += fmt::format("{} {}\n", x, y);
    text += "EOD\n";
  }
  text += fmt::format(
      "set terminal svg size 760,420 noenhanced font 'sans-serif,12' background rgb 'white'\nset output {}\n"
      "set title {}\nset xlabel {}\nset ylabel {}\nset grid\nset key outside right\nset style fill solid "
      "0.5\n",
      io::gnuplot_text(stem + ".svg"), io::gnuplot_text(plot.title), io::gnuplot_text(plot.x_label),
      io::gnuplot_text(plot.y_label));
  if (plot.log_x) text += "set logscale x\n";
  if (plot.log_y) text += "set logscale y\n";
  text += "plot";
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    text += fmt::format("{} $series{} using 1:2 with {} linewidth 2 title {}", i == 0 ? "" : ", \\\n ", i,
                        plot.series[i].style, io::gnuplot_text(plot.series[i].title));
  }
  return text + '\n';
}

}  // namespace

Status run_gnuplot(const io::Path& directory, const std::string& script) {
  const io::Files& files = io::real_files();
  if (!io::find_gnuplot(files)) return {};
  return io::run_gnuplot(files, io::real_processes(), directory, "load " + io::gnuplot_text(script) + "\n");
}

Status write_plot(const ReportPlot& plot, const io::Path& directory, const std::string& stem) {
  bool any = false;
  std::string csv = "series,x,y\n";
  for (const PlotSeries& series : plot.series) {
    for (const auto& [x, y] : series.points) csv += fmt::format("\"{}\",{},{}\n", series.title, x, y);
    any = any || !series.points.empty();
  }
  io::Files& files = io::real_files();
  TRY(files.write(directory / (stem + ".csv"), csv, io::Mode::normal));
  TRY(files.write(directory / (stem + ".gp"), script_of(plot, stem), io::Mode::normal));
  return any ? run_gnuplot(directory, stem + ".gp") : Status{};
}

}  // namespace gleaner::simulator
