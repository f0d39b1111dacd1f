#include "shared/planning/single_installment.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "shared/base/check.h"

namespace gleaner::planning {
namespace {

// A removal that gains less than rounding errors is none.
constexpr double least_gain = 1e-12;

// One child as its parent sees it: its equivalent w (with all that is below it) and its link.
struct Branch {
  std::size_t child = 0;
  double w = 0, z = 0;
};

// A node with its children, solved.
struct Family {
  double equivalent_w = 0;
  double own = 1;             // of the load that the subtree gets
  std::vector<double> parts;  // of the children
};

// Equations 10 and 11. The a_m are relative to the first child; powers of two keep them in range.
Family solve(double w, const std::vector<Branch>& branches, const LoadCost& cost) {
  Family family;
  family.equivalent_w = w;
  if (branches.empty()) return family;
  std::vector<double>& a = family.parts;
  a.push_back(1);
  for (std::size_t m = 0; m + 1 < branches.size(); ++m) {
    const double x = (branches[m + 1].w * cost.tcp + branches[m + 1].z * cost.tcm) /
                     (branches[m].w * cost.tcp + branches[m].z * cost.tsol);
    a.push_back(a.back() / x);
    if (a.back() > 0x1p300) {
      for (double& each : a) each *= 0x1p-300;
    }
  }
  double sent = 0, sum = 0;
  for (std::size_t m = 0; m < branches.size(); ++m) {
    sent += branches[m].z * a[m];
    sum += a[m];
  }
  const Branch& last = branches.back();
  const double busy = cost.tcm * sent + a.back() * (last.w * cost.tcp + last.z * cost.tsol);
  const double root = busy / (w * cost.tcp);
  const double total = root + sum;
  for (double& each : a) each /= total;
  family.own = root / total;
  family.equivalent_w = family.own * w;
  return family;
}

// Which child's removal lowers the equivalent w most. Removing child i multiplies all later a_m by U_i / D_i
// (numerator and denominator that i brings into equation 10), so each removal is tried in constant time.
std::size_t best_removal(double w, const std::vector<Branch>& branches, const Family& family,
                         const LoadCost& cost) {
  const std::size_t count = branches.size();
  const std::vector<double>& a = family.parts;
  const auto report = [&](std::size_t m) { return branches[m].w * cost.tcp + branches[m].z * cost.tsol; };
  std::vector<double> sum_after(count + 1, 0), sent_after(count + 1, 0);
  for (std::size_t m = count; m-- > 0;) {
    sum_after[m] = sum_after[m + 1] + a[m];
    sent_after[m] = sent_after[m + 1] + branches[m].z * a[m];
  }
  std::size_t best = 0;
  double lowest = 0, sum_before = 0, sent_before = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double grown = i == 0 ? 1 : (branches[i].w * cost.tcp + branches[i].z * cost.tcm) / report(i);
    const double sum = sum_before + grown * sum_after[i + 1];
    double busy = cost.tcm * (sent_before + grown * sent_after[i + 1]);
    if (i + 1 < count)
      busy += grown * a[count - 1] * report(count - 1);
    else if (i > 0)
      busy += a[i - 1] * report(i - 1);
    const double root = busy / (w * cost.tcp);
    const double equivalent = sum > 0 ? w * root / (root + sum) : w;
    if (i == 0 || equivalent < lowest) {
      best = i;
      lowest = equivalent;
    }
    sum_before += a[i];
    sent_before += branches[i].z * a[i];
  }
  return best;
}

// Removes what slows the family down; says who and why.
Family prune_family(double w, std::vector<Branch>& branches, const LoadCost& cost, const LoadTree& tree,
                    std::vector<LeftOut>& left_out) {
  Family family = solve(w, branches, cost);
  while (!branches.empty()) {
    const auto worst = static_cast<std::ptrdiff_t>(best_removal(w, branches, family, cost));
    std::vector<Branch> rest = branches;
    rest.erase(rest.begin() + worst);
    Family without = solve(w, rest, cost);
    if (without.equivalent_w >= family.equivalent_w * (1 - least_gain)) break;
    const std::size_t child = branches[static_cast<std::size_t>(worst)].child;
    const std::size_t parent = tree[child].parent;
    const std::string gain =
        fmt::format("its link costs more than it computes: without it {} ends {:.3g} % earlier",
                    parent == 0 ? "the tree" : "what is below " + tree.label(parent),
                    100 * (1 - without.equivalent_w / family.equivalent_w));
    for (std::size_t i = child; i < tree[child].subtree_end; ++i) {
      std::string reason = i == child ? gain : "it is below " + tree.label(child) + ", which is left out";
      left_out.push_back({i, std::move(reason)});
    }
    branches = std::move(rest);
    family = std::move(without);
  }
  return family;
}

}  // namespace

std::vector<double> equal_shares(const LoadTree& tree) {
  if (tree.root_computes() || tree.size() == 1)
    return std::vector<double>(tree.size(), 1 / static_cast<double>(tree.size()));
  std::vector<double> shares(tree.size(), 1 / static_cast<double>(tree.size() - 1));
  shares[0] = 0;
  return shares;
}

std::optional<double> equal_finish(const LoadTree& tree, const LoadCost& cost) {
  const std::size_t arity = complete_arity(tree);
  if (arity == 0 || !is_homogeneous(tree)) return std::nullopt;
  const double k = static_cast<double>(arity), w = tree[0].w;
  const double z = tree.size() > 1 ? tree[1].z : 0;
  double subtree = 0, sigma = 0, power = 1;  // s(j) from the leaves up; sigma = their sum for levels 1..L
  for (std::size_t level = 0; level < tree.depth(); ++level, power *= k) {
    subtree += power;
    sigma += subtree;
  }
  const double epsilon = 1 / static_cast<double>(tree.size());
  return epsilon * (k * sigma * z * cost.tcm + w * cost.tcp + sigma * z * cost.tsol);
}

SequentialPlan plan_sequential(const LoadTree& tree, const LoadCost& cost, Prune prune) {
  SequentialPlan plan;
  std::vector<Family> families(tree.size());
  std::vector<std::vector<Branch>> kept(tree.size());
  for (std::size_t i = tree.size(); i-- > 0;) {
    for (const std::size_t child : tree[i].children)
      kept[i].push_back({child, families[child].equivalent_w, tree[child].z});
    families[i] = prune == Prune::none ? solve(tree[i].w, kept[i], cost)
                                       : prune_family(tree[i].w, kept[i], cost, tree, plan.left_out);
  }
  plan.finish = families[0].equivalent_w * cost.tcp;
  std::vector<double> load(tree.size(), 0);
  load[0] = 1;
  plan.shares.assign(tree.size(), 0);
  for (std::size_t i = 0; i < tree.size(); ++i) {
    plan.shares[i] = load[i] * families[i].own;
    double sent = 0;
    for (std::size_t m = 0; m < kept[i].size(); ++m) {
      load[kept[i][m].child] = load[i] * families[i].parts[m];
      sent += kept[i][m].z * families[i].parts[m];
    }
    if (kept[i].empty() || load[i] == 0) continue;
    const Branch& first = kept[i].front();
    const double first_report = families[i].parts.front() * (first.z * cost.tcm + first.w * cost.tcp);
    if (first_report < cost.tcm * sent) plan.early_reports.push_back(i);
  }
  // A subtree that goes takes along who was left out inside it before: the outermost reason stays.
  std::stable_sort(plan.left_out.begin(), plan.left_out.end(),
                   [](const LeftOut& a, const LeftOut& b) { return a.node < b.node; });
  std::vector<LeftOut> once;
  for (LeftOut& each : plan.left_out) {
    if (!once.empty() && once.back().node == each.node) once.pop_back();
    once.push_back(std::move(each));
  }
  plan.left_out = std::move(once);
  return plan;
}

}  // namespace gleaner::planning
