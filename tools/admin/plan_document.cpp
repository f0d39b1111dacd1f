// What `plan --json` prints.

#include "shared/json/text.h"
#include "tools/admin/plan_views.h"

namespace gleaner::admin {
namespace {

using Json = json::Value;

// By name; by its place in pre-order where it has none.
Json reference(const planning::LoadTree& tree, std::size_t node) {
  return tree[node].name.empty() ? Json(node) : Json(tree[node].name);
}

Json strategy(const planning::LoadTree& tree, const planning::StrategyPlan& plan) {
  Json left_out = Json::array(), reasons = Json::array();
  for (const planning::LeftOut& each : plan.left_out) {
    left_out.push_back(reference(tree, each.node));
    reasons.push_back(each.reason);
  }
  return {{"finish_closed_form", plan.closed_form ? Json(*plan.closed_form) : Json(nullptr)},
          {"finish_replay", plan.finish},
          {"speedup", plan.speedup},
          {"shares", plan.shares},
          {"left_out", std::move(left_out)},
          {"left_out_reasons", std::move(reasons)},
          {"feasible", plan.feasible},
          {"warnings", plan.warnings}};
}

Json nodes(const planning::LoadTree& tree) {
  Json list = Json::array();
  for (std::size_t i = 0; i < tree.size(); ++i) {
    list.push_back(Json{{"name", tree.label(i)},
                        {"parent", i == 0 ? Json(nullptr) : Json(tree[i].parent)},
                        {"w", i == 0 && !tree.root_computes() ? Json(nullptr) : Json(tree[i].w)},
                        {"z", tree[i].z}});
  }
  return list;
}

}  // namespace

std::string plan_document(const PlanView& view) {
  const planning::LoadCost& cost = view.fleet.cost;
  Json document{{"version", 1},
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
  return json::write(document, {2});
}

}  // namespace gleaner::admin
