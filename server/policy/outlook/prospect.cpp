#include "server/policy/outlook/prospect.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace gleaner::policy {
namespace {

// Of the logarithm of what a hint unit costs. Other parameters may mislead threefold; the same again differ
// by the weather of the fleet.
constexpr double spread_of_others = 1.1;
constexpr double spread_of_same = 0.3;

Forecast around(double middle, double spread) {
  return {middle, middle * std::exp(-spread), middle * std::exp(spread)};
}

}  // namespace

Prospect prospect(std::span<const Tried> tried, double cost, double longest, const Cores& cores) {
  const auto told = [](const Tried& each) { return each.cost > 0 && each.mflop > 0; };
  Prospect prospect;
  prospect.same =
      std::any_of(tried.begin(), tried.end(), [&](const Tried& each) { return each.same && told(each); });
  std::vector<double> logarithms;  // of megaflop a hint unit
  for (const Tried& each : tried)
    if (told(each) && each.same == prospect.same) logarithms.push_back(std::log(each.mflop / each.cost));
  prospect.tried = static_cast<std::int64_t>(logarithms.size());
  if (logarithms.empty() || cores.count <= 0 || !(cores.mflops > 0)) return prospect;

  const auto count = static_cast<double>(logarithms.size());
  double mean = 0, squares = 0;
  for (const double each : logarithms) mean += each / count;
  for (const double each : logarithms) squares += (each - mean) * (each - mean);
  const double prior = prospect.same ? spread_of_same : spread_of_others;
  const double spread = std::sqrt((squares + prior * prior) / count * (1 + 1 / count));

  const double core_mflops = cores.mflops / static_cast<double>(cores.count);
  const double core_seconds = std::exp(mean) / core_mflops;  // of a hint unit
  prospect.core_seconds = around(cost * core_seconds, spread);
  if (cores.share > 0) {
    const double together = cost * core_seconds / (static_cast<double>(cores.count) * cores.share);
    prospect.end = around(std::max(together, longest * core_seconds), spread);
  }
  return prospect;
}

}  // namespace gleaner::policy
