// What `plan --json` prints.
#include <nlohmann/json.hpp>

#include "tools/admin/plan_views.h"

namespace gleaner::admin {
namespace {

using OrderedJson = nlohmann::ordered_json;

// By name; by its place in pre-order where it has none.
OrderedJson reference(const planning::LoadTree& tree, std::size_t node) {
  return tree[node].name.empty() ? OrderedJson(node) : OrderedJson(tree[node].name);
}

OrderedJson strategy(const planning::LoadTree& tree, const planning::StrategyPlan& plan) {
  OrderedJson left_out = OrderedJson::array(), reasons = OrderedJson::array();
  for (const planning::LeftOut& each : plan.left_out) {
    left_out.push_back(reference(tree, each.node));
    reasons.push_back(each.reason);
  }
  return {{"finish_closed_form", plan.closed_form ? OrderedJson(*plan.closed_form) : OrderedJson(nullptr)},
          {"finish_replay", plan.finish},
          {"speedup", plan.speedup},
          {"shares", plan.shares},
          {"left_out", std::move(left_out)},
          {"left_out_reasons", std::move(reasons)},
          {"feasible", plan.feasible},
          {"warnings", plan.warnings}};
}

OrderedJson nodes(const planning::LoadTree& tree) {
  OrderedJson list = OrderedJson::array();
  for (std::size_t i = 0; i < tree.size(); ++i) {
    list.push_back({{"name", tree.label(i)},
                    {"parent", i == 0 ? OrderedJson(nullptr) : OrderedJson(tree[i].parent)},
                    {"w", i == 0 && !tree.root_computes() ? OrderedJson(nullptr) : OrderedJson(tree[i].w)},
                    {"z", tree[i].z}});
  }
  return list;
}

}  // namespace

std::string plan_document(const PlanView& view) {
  const planning::LoadCost& cost = view.fleet.cost;
  OrderedJson document{{"version", 1},
                       {"tcp", cost.tcp},
                       {"tcm", cost.tcm},
                       {"tsol", cost.tsol},
                       {"duplex", planning::name_of(cost.duplex)},
                       {"best", view.plan.best().name}};
  for (const planning::StrategyPlan* each : view.plan.all())
    document[each->name] = strategy(view.fleet.tree, *each);
  document["nodes"] = nodes(view.fleet.tree);
  if (!view.load.empty()) document["load"] = view.load;
  document["remarks"] = view.remarks;
  if (view.forecast) {
    const Forecast& forecast = *view.forecast;
    document["forecast"] = {{"seconds", forecast.seconds},
                            {"low_seconds", forecast.low},
                            {"high_seconds", forecast.high},
                            {"rate_of_hosts", forecast.rate_of_hosts},
                            {"rate_of_last_minute", forecast.rate_of_minute},
                            {"rate_average", forecast.rate_average}};
  }
  return document.dump(2, ' ', false, OrderedJson::error_handler_t::replace);
}

}  // namespace gleaner::admin
