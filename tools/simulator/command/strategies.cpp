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

template <typename Rules>
std::vector<policy::StrategyInfo> without_options(const Rules& rules) {
  std::vector<policy::StrategyInfo> infos;
  for (const auto& rule : rules) {
    policy::StrategyInfo& info = infos.emplace_back();
    info.name = rule.name;
    info.summary = rule.summary;
    info.source = rule.source;
  }
  return infos;
}

Result<int> list(Console& console, const bool& json) {
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
  add("straggler", without_options(policy::straggler_rules()));
  add("mapping", policy::mapping_strategies());
  add("tree", without_options(planning::serving_rules()));
  if (json) console.out << json::write(document, {2}) << '\n';
  return 0;
}

}  // namespace

void add_strategies_command(CLI::App& program, Action& chosen) {
  auto* command = program.add_subcommand("strategies", "lists the strategies with their sources");
  const auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "print JSON");
  on_parse(command, chosen, json, list);
}

}  // namespace gleaner::simulator
