// strategies: what may be named, one line each with its source.
#include <fmt/format.h>

#include <memory>
#include <ostream>

#include "server/policy/mapping/mapping.h"
#include "server/policy/sizing/sizing.h"
#include "server/policy/stage/stage.h"
#include "shared/json/text.h"
#include "shared/planning/serving.h"
#include "tools/simulator/command/commands.h"

namespace gleaner::simulator {
namespace {

Result<int> list(Console& console, bool json) {
  auto document = json::Value::array();
  const auto add = [&](const char* kind, const std::vector<policy::StrategyInfo>& infos) {
    if (!json) console.out << (document.empty() ? "" : "\n") << kind << ":\n";
    for (const policy::StrategyInfo& info : infos) {
      if (!json) console.out << fmt::format("{:<14} {} [{}]\n", info.name, info.summary, info.source);
      document.push_back(json::Value{{"name", info.name},
                                     {"kind", kind},
                                     {"summary", info.summary},
                                     {"source", info.source},
                                     {"options", info.options}});
    }
  };
  add("sizing", policy::sizing_strategies());
  std::vector<policy::StrategyInfo> stragglers;
  for (const policy::StragglerInfo& rule : policy::straggler_rules()) {
    policy::StrategyInfo info;
    info.name = rule.name;
    info.summary = rule.summary;
    info.source = rule.source;
    stragglers.push_back(std::move(info));
  }
  add("straggler", stragglers);
  add("mapping", policy::mapping_strategies());
  std::vector<policy::StrategyInfo> relays;
  for (const planning::ServingRuleInfo& rule : planning::serving_rules()) {
    policy::StrategyInfo info;
    info.name = rule.name;
    info.summary = rule.summary;
    info.source = rule.source;
    relays.push_back(std::move(info));
  }
  add("tree", relays);
  if (json) console.out << json::write(document, {2}) << '\n';
  return 0;
}

}  // namespace

void add_strategies_command(CLI::App& program, Action& chosen) {
  auto* command = program.add_subcommand("strategies", "lists the strategies with their sources");
  const auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "print JSON");
  command->callback([&chosen, json] { chosen = [json](Console& console) { return list(console, *json); }; });
}

}  // namespace gleaner::simulator
