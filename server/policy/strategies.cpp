#include "server/policy/strategies.h"

#include <algorithm>

#include "server/policy/mapping/mapping.h"
#include "server/policy/sizing/sizing.h"

namespace gleaner::policy {
namespace {

constexpr std::string_view sizing_beside_mapping = "wis";

bool names(const std::vector<StrategyInfo>& strategies, std::string_view name) {
  return std::any_of(strategies.begin(), strategies.end(),
                     [&](const StrategyInfo& info) { return info.name == name; });
}

std::string listed(const std::vector<StrategyInfo>& strategies) {
  std::string list;
  for (const StrategyInfo& info : strategies) list += (list.empty() ? "" : ", ") + info.name;
  return list;
}

}  // namespace

Result<StrategyKind> strategy_kind(std::string_view text) {
  const std::string_view name = text.substr(0, text.find(','));
  if (names(mapping_strategies(), name)) {
    TRY(make_mapping(text));
    return StrategyKind::mapping;
  }
  if (names(sizing_strategies(), name)) {
    TRY(make_sizing(text));
    return StrategyKind::sizing;
  }
  return Error{ErrorKind::invalid, "there is no strategy '" + std::string(name) +
                                       "'; sizing: " + listed(sizing_strategies()) +
                                       "; mapping: " + listed(mapping_strategies())};
}

// Gleaner's strategy is both: its sizes count on its end rules.
std::string straggler_for(std::string_view strategy, const std::string& configured) {
  return strategy.substr(0, strategy.find(',')) == "gleaner" ? "split" : configured;
}

std::string sizing_of(const std::string& strategy) {
  const auto kind = strategy_kind(strategy);
  return kind.ok() && *kind == StrategyKind::mapping ? std::string(sizing_beside_mapping) : strategy;
}

}  // namespace gleaner::policy
