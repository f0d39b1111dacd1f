// A plan as a Gantt chart: a row a node, a bar for what it receives, computes and reports.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "shared/io/gnuplot.h"
#include "tools/admin/figures.h"
#include "tools/admin/plan_views.h"

namespace gleaner::admin {
namespace {

constexpr std::size_t rows_max = 120;  // more cannot be read
constexpr int row_pixels = 22, frame_pixels = 150, width_pixels = 1000, label_columns = 24;

struct Look {
  planning::Activity activity;
  double low, high;  // of the row, upwards
  const char* colour;
};
constexpr Look looks[] = {{planning::Activity::receive, 0.14, 0.40, "#4477aa"},
                          {planning::Activity::compute, -0.13, 0.13, "#228833"},
                          {planning::Activity::report, -0.40, -0.14, "#ee6677"}};

bool ends_with(const std::string& text, const char* end) {
  return std::string_view(text).ends_with(end);
}

}  // namespace

Result<std::string> plan_script(const PlanView& view, const planning::StrategyPlan& shown,
                                const std::string& file) {
  const planning::LoadTree& tree = view.fleet.tree;
  std::map<std::size_t, int> rows;  // of the nodes that do something, in pre-order from the top
  for (const planning::Span& span : shown.replay.spans) rows.emplace(span.node, 0);
  if (tree.root_computes()) rows.emplace(0, 0);
  while (rows.size() > rows_max) rows.erase(std::prev(rows.end()));
  int place = static_cast<int>(rows.size());
  for (auto& [node, row] : rows) row = place--;
  const int height = frame_pixels + row_pixels * static_cast<int>(rows.size());
  std::string terminal;
  if (ends_with(file, ".svg"))
    terminal = "svg size {},{} noenhanced font 'sans-serif,12' background rgb 'white'";
  else if (ends_with(file, ".png"))
    terminal = "pngcairo size {},{} noenhanced font 'sans-serif,10' background rgb 'white'";
  else
    return Error{ErrorKind::invalid, "--plot " + file + ": expected a file that ends in .svg or .png"};
  std::string script =
      "set terminal " + fmt::format(fmt::runtime(terminal), width_pixels, height) + "\nset output " +
      io::gnuplot_text(file) + "\nset title " +
      io::gnuplot_text(
          fmt::format("{}: finish {:.6g}, speed-up {:.4g}", shown.title, shown.finish, shown.speedup)) +
      "\nset xlabel \"time\"\nset key outside bottom center horizontal\nset style fill solid 0.9 noborder\n" +
      fmt::format("set yrange [0.4:{}.6]\nset xrange [0:{}]\nset grid x\nset ytics ()\n", rows.size(),
                  shown.finish);
  for (const auto& [node, row] : rows)
    script +=
        fmt::format("set ytics add ({} {})\n", io::gnuplot_text(fit(tree.label(node), label_columns)), row);
  std::string plots;
  for (std::size_t i = 0; i < std::size(looks); ++i) {
    std::string data;
    for (const planning::Span& span : shown.replay.spans) {
      const auto row = rows.find(span.node);
      if (span.activity != looks[i].activity || row == rows.end()) continue;
      data += fmt::format("{} {} {} {} {} {}\n", (span.begin + span.end) / 2, row->second, span.begin,
                          span.end, row->second + looks[i].low, row->second + looks[i].high);
    }
    if (data.empty()) continue;
    script += fmt::format("$bars{} << EOD\n{}EOD\n", i, data);
    plots +=
        fmt::format("{}$bars{} using 1:2:3:4:5:6 with boxxyerror linecolor rgb '{}' title '{}'",
                    plots.empty() ? "plot " : ", ", i, looks[i].colour, planning::name_of(looks[i].activity));
  }
  return script + plots + "\n";
}

}  // namespace gleaner::admin
