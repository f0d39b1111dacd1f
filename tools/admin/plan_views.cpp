#include "tools/admin/plan_views.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/admin/figures.h"

namespace gleaner::admin {
namespace {

constexpr std::size_t nodes_shown = 60;  // --json has all

std::string time_figure(double seconds) {
  return fmt::format("{:.6g}", seconds);
}

std::string left_out_text(const planning::StrategyPlan& plan) {
  return plan.left_out.empty() ? "-" : std::to_string(plan.left_out.size());
}

Table strategies(const planning::FleetPlan& plan) {
  Table table({{"PLAN"},
               {"FINISH", Align::right},
               {"SPEEDUP", Align::right},
               {"CLOSED FORM", Align::right},
               {"LEFT OUT", Align::right},
               {"REMARK"}});
  for (const planning::StrategyPlan* each : plan.all())
    table.add({{each->name, each == &plan.best() ? Tint::good : Tint::none},
               time_figure(each->finish),
               fmt::format("{:.3f}", each->speedup),
               each->closed_form ? time_figure(*each->closed_form) : "-",
               left_out_text(*each),
               each->title + (each == &plan.best() ? ", earliest" : "") +
                   (each->feasible ? "" : ", formula infeasible")});
  return table;
}

std::string share_text(double share) {
  return share > 0 ? fmt::format("{:.3f}", 100 * share) : "-";
}

std::string nodes(const PlanView& view, const Display& display) {
  const planning::LoadTree& tree = view.fleet.tree;
  std::vector<Table::Column> columns{{"NODE"}, {"W", Align::right}, {"Z", Align::right}};
  for (const planning::StrategyPlan* each : view.plan.all())
    columns.push_back({each->name + " %", Align::right});
  Table table(columns);
  const std::size_t shown = std::min(tree.size(), nodes_shown);
  for (std::size_t i = 0; i < shown; ++i) {
    const bool computes = i > 0 || tree.root_computes();
    std::vector<Cell> row{std::string(2 * tree[i].level, ' ') + tree.label(i),
                          computes ? fmt::format("{:.4g}", tree[i].w) : "-",
                          i > 0 ? fmt::format("{:.4g}", tree[i].z) : "-"};
    for (const planning::StrategyPlan* each : view.plan.all())
      row.push_back(computes ? share_text(each->shares[i]) : "-");
    table.add(std::move(row));
  }
  std::string text = table.render(display);
  if (shown < tree.size()) text += fmt::format("... and {} more (--json has all)\n", tree.size() - shown);
  return text;
}

std::string notes(const PlanView& view, const Display& display) {
  std::string text;
  const auto warn = [&](const std::string& source, const std::string& words) {
    text += tinted(source + ":", Tint::warning, display) + " " + words + "\n";
  };
  for (const std::string& remark : view.remarks) warn("note", remark);
  for (const planning::StrategyPlan* each : view.plan.all()) {
    for (const std::string& warning : each->warnings) warn(each->name, warning);
  }
  const auto& left_out = view.plan.sos_pruned.left_out;
  for (std::size_t i = 0; i < std::min(left_out.size(), nodes_shown); ++i)
    text += "leave out " + view.fleet.tree.label(left_out[i].node) + ": " + left_out[i].reason + "\n";
  if (left_out.size() > nodes_shown)
    text += fmt::format("... and {} more to leave out (--json has all)\n", left_out.size() - nodes_shown);
  return text;
}

std::string forecast_text(const Forecast& forecast) {
  const auto rate = [](double value) {
    return value > 0 ? figure_text(value) + "/s" : std::string("unknown");
  };
  return fmt::format("predicted finish in {}: hosts at work {}, last minute {}, average {}\n",
                     interval_text(forecast.seconds, forecast.low, forecast.high),
                     rate(forecast.rate_of_hosts), rate(forecast.rate_of_minute),
                     rate(forecast.rate_average));
}

}  // namespace

std::string plan_text(const PlanView& view, const Display& display) {
  const planning::LoadCost& cost = view.fleet.cost;
  std::string text;
  if (!view.load.empty()) text += "load: " + view.load + "; times in seconds\n";
  text += fmt::format("{}, Tcp {:.6g}, Tcm {:.6g}, Tsol {:.6g}, {} duplex\n\n",
                      counted(static_cast<std::int64_t>(view.fleet.tree.size()), "node"), cost.tcp, cost.tcm,
                      cost.tsol, planning::name_of(cost.duplex));
  text += strategies(view.plan).render(display) + "\n" + nodes(view, display);
  const std::string more = notes(view, display);
  if (!more.empty()) text += "\n" + more;
  if (view.forecast) text += "\n" + forecast_text(*view.forecast);
  return text;
}

}  // namespace gleaner::admin
