#include "server/policy/sharing.h"

#include <algorithm>
#include <cmath>

namespace gleaner::policy {
namespace {

constexpr int priority_most = 8;
constexpr double weight_least = 1e-6;  // a weight of 0 would make service infinite

}  // namespace

double share(const ShareView& view) {
  return std::max(view.weight, weight_least) *
         std::exp2(std::clamp(view.priority, -priority_most, priority_most));
}

std::vector<ProblemId> order_by_share(std::span<const ShareView> candidates) {
  std::vector<ShareView> sorted(candidates.begin(), candidates.end());
  std::sort(sorted.begin(), sorted.end(), [](const ShareView& a, const ShareView& b) {
    return a.service != b.service ? a.service < b.service : a.problem < b.problem;
  });
  std::vector<ProblemId> order;
  order.reserve(sorted.size());
  for (const ShareView& view : sorted) order.push_back(view.problem);
  return order;
}

double charge(const ShareView& view, double slot_seconds) {
  return view.service + std::max(0.0, slot_seconds) / share(view);
}

double starting_service(std::span<const ShareView> others) {
  if (others.empty()) return 0;
  return std::min_element(others.begin(), others.end(),
                          [](const ShareView& a, const ShareView& b) { return a.service < b.service; })
      ->service;
}

}  // namespace gleaner::policy
