#include "shared/planning/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "shared/base/limits.h"
#include "shared/planning/multi_installment.h"
#include "shared/planning/optimum.h"

namespace gleaner::planning {
namespace {

// Replay and closed form agree if they differ by less than rounding errors grow to.
constexpr double agreement = 1e-9;

// What the speed-up is over: the root alone; where it does not compute, the fastest node.
double alone(const LoadTree& tree, const LoadCost& cost) {
  double w = tree[0].w;
  for (std::size_t i = 1; i < tree.size() && !tree.root_computes(); ++i) w = std::min(w, tree[i].w);
  return w * cost.tcp;
}

void finish_up(const LoadTree& tree, const LoadCost& cost, StrategyPlan& plan, Replay replay) {
  plan.replay = std::move(replay);
  plan.finish = plan.replay.finish;
  plan.speedup = alone(tree, cost) / plan.finish;
  if (plan.closed_form && !std::isfinite(*plan.closed_form)) plan.closed_form.reset();
  if (plan.feasible && plan.closed_form && plan.finish > *plan.closed_form * (1 + agreement))
    plan.warnings.push_back(fmt::format("the closed form is {:.3g} % too low: go by the replay",
                                        100 * (plan.finish / *plan.closed_form - 1)));
}

StrategyPlan plan_eas(const LoadTree& tree, const LoadCost& cost) {
  StrategyPlan plan;
  plan.name = "eas";
  plan.title = "equal allocation";
  plan.shares = equal_shares(tree);
  plan.closed_form = equal_finish(tree, cost);
  if (plan.closed_form && cost.tsol > cost.tcm)
    plan.warnings.emplace_back(
        "results take longer to send than load: the closed form's last leaf need not be the last to end");
  finish_up(tree, cost, plan, replay_whole(tree, cost, plan.shares));
  return plan;
}

std::string named_nodes(const LoadTree& tree, const std::vector<std::size_t>& nodes) {
  constexpr std::size_t shown = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(nodes.size(), shown); ++i)
    text += (i > 0 ? ", " : "") + tree.label(nodes[i]);
  if (nodes.size() > shown) text += fmt::format(" and {} more", nodes.size() - shown);
  return text;
}

StrategyPlan plan_sos(const LoadTree& tree, const LoadCost& cost, Prune prune) {
  StrategyPlan plan;
  const bool pruned = prune == Prune::greedy;
  plan.name = pruned ? "sos_pruned" : "sos";
  plan.title = pruned ? "sequential optimal, pruned" : "sequential optimal";
  SequentialPlan sequential = plan_sequential(tree, cost, prune);
  plan.shares = std::move(sequential.shares);
  plan.left_out = std::move(sequential.left_out);
  plan.closed_form = sequential.finish;
  if (cost.duplex == Duplex::half && !sequential.early_reports.empty())
    plan.warnings.push_back(
        "validity test failed at " + named_nodes(tree, sequential.early_reports) +
        ": the first report comes before the last load is sent, which half duplex does not allow");
  if (cost.duplex == Duplex::half)
    plan.warnings.emplace_back("half duplex: the optimum is that of the linear program");
  finish_up(tree, cost, plan, replay_whole(tree, cost, plan.shares));
  return plan;
}

StrategyPlan plan_mos(const LoadTree& tree, const LoadCost& cost) {
  StrategyPlan plan;
  plan.name = "mos";
  plan.title = "multi-installment";
  InstallmentPlan installments = plan_installments(tree, cost);
  plan.closed_form = installments.formula;
  plan.feasible = installments.feasible;
  plan.shares = std::move(installments.shares);
  if (!plan.feasible) {
    plan.warnings.push_back(fmt::format(
        "MOS is infeasible beyond level {}: the formula gives negative loads there and its finish is no "
        "schedule; shares and replay use levels 0 to {}",
        installments.usable_levels, installments.usable_levels));
    for (std::size_t i = 0; i < tree.size(); ++i) {
      if (tree[i].level > installments.usable_levels)
        plan.left_out.push_back(
            {i, fmt::format("MOS is infeasible beyond level {}", installments.usable_levels)});
    }
  }
  if (complete_arity(tree) == 0 || !is_homogeneous(tree))
    plan.warnings.emplace_back(
        "the closed form was published for equal nodes in a complete tree; here it is a generalisation");
  finish_up(tree, cost, plan, replay_installments(tree, cost, plan.shares, installments.order));
  return plan;
}

Result<StrategyPlan> plan_optimum(const LoadTree& tree, const LoadCost& cost) {
  StrategyPlan plan;
  plan.name = "optimum";
  plan.title = "linear program";
  TRY_ASSIGN(OptimalPlan optimal, plan_optimal(tree, cost));
  plan.shares = std::move(optimal.shares);
  for (std::size_t i = 1; i < tree.size(); ++i) {
    if (plan.shares[i] <= 0) plan.left_out.push_back({i, "the optimum gives it no load"});
  }
  finish_up(tree, cost, plan, replay_whole(tree, cost, plan.shares));
  return plan;
}

}  // namespace

std::vector<const StrategyPlan*> FleetPlan::all() const {
  std::vector<const StrategyPlan*> plans{&eas, &sos, &sos_pruned, &mos};
  if (optimum) plans.push_back(&*optimum);
  return plans;
}

const StrategyPlan& FleetPlan::best() const {
  const StrategyPlan* best = &eas;
  for (const StrategyPlan* plan : all()) {
    if (plan->finish < best->finish * (1 - agreement)) best = plan;
  }
  return *best;
}

Result<FleetPlan> plan_fleet(const LoadTree& tree, const LoadCost& cost) {
  TRY(check_load(tree, cost));
  FleetPlan plan{plan_eas(tree, cost), plan_sos(tree, cost, Prune::none), plan_sos(tree, cost, Prune::greedy),
                 plan_mos(tree, cost), std::nullopt};
  if (tree.size() <= static_cast<std::size_t>(limits::plan_optimum_nodes_max)) {
    auto optimum = plan_optimum(tree, cost);
    if (optimum.ok())
      plan.optimum = std::move(optimum).value();
    else  // numbers of too different sizes for the solver; the other plans stand
      plan.sos.warnings.push_back("no optimum to compare with: " + optimum.error().message);
  }
  return plan;
}

}  // namespace gleaner::planning
