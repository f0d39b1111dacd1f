// map: one batch of tasks, mapped by one strategy.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>
#include <memory>
#include <ostream>

#include "server/policy/mapping/mapping.h"
#include "shared/base/limits.h"
#include "shared/json/text.h"
#include "tools/simulator/command/commands.h"
#include "tools/simulator/command/instance.h"

namespace gleaner::simulator {
namespace {

struct MapOptions {
  std::string file;
  std::string strategy;
  bool json = false;
};

Result<policy::MappingInput> read_input(Instance& instance) {
  policy::MappingInput input;
  TRY_ASSIGN(input.rates, instance.numbers("rates", above_zero, limits::simulated_items_max));
  TRY_ASSIGN(input.work, instance.numbers("sizes", at_least_zero, limits::simulated_items_max));
  const std::size_t tasks = input.work.size();
  const std::size_t hosts = input.rates.size();
  if (hosts > 0 && tasks > static_cast<std::size_t>(limits::mapping_pairs_max) / hosts) {
    return instance.mistake("sizes", fmt::format("at most {} pairs of a task and a host, got {} times {}",
                                                 limits::mapping_pairs_max, tasks, hosts));
  }
  input.computation = policy::Matrix(tasks, hosts);
  for (std::size_t task = 0; task < tasks; ++task) {
    for (std::size_t host = 0; host < hosts; ++host) {
      input.computation(task, host) = input.work[task] / input.rates[host];
    }
  }
  if (instance.has("communication")) {
    TRY_ASSIGN(const auto table, instance.table("communication", tasks, hosts));
    input.communication = policy::Matrix(tasks, hosts);
    for (std::size_t task = 0; task < tasks; ++task) {
      for (std::size_t host = 0; host < hosts; ++host) input.communication(task, host) = table[task][host];
    }
  }
  input.start.assign(hosts, 0);
  if (instance.has("start")) {
    TRY_ASSIGN(input.start, instance.numbers_for("start", at_least_zero, hosts, "host"));
  }
  if (instance.has("error")) {
    TRY_ASSIGN(const std::vector<double> errors, instance.numbers_for("error", at_least_zero, tasks, "task"));
    input.error = policy::Matrix(tasks, hosts);
    for (std::size_t task = 0; task < tasks; ++task) {
      for (std::size_t host = 0; host < hosts; ++host) input.error(task, host) = errors[task];
    }
  }
  if (instance.has("bytes")) {
    TRY_ASSIGN(input.bytes, instance.numbers_for("bytes", at_least_zero, tasks, "task"));
  }
  if (instance.has("bandwidth")) {
    TRY_ASSIGN(input.bandwidth, instance.numbers_for("bandwidth", above_zero, hosts, "host"));
  }
  TRY_ASSIGN(const std::int64_t seed, instance.whole("seed", 0, std::numeric_limits<std::int64_t>::max(), 1));
  input.seed = static_cast<std::uint64_t>(seed);
  TRY(instance.nothing_left());
  return input;
}

Result<int> map(Console& console, const MapOptions& options) {
  TRY_ASSIGN(const auto strategy, policy::make_mapping(options.strategy));
  TRY_ASSIGN(Instance instance, Instance::read(options.file));
  TRY_ASSIGN(const policy::MappingInput input, read_input(instance));
  const policy::Schedule schedule = strategy->generate(input);
  if (options.json) {
    const json::Value answer{{"strategy", strategy->text()},
                             {"queues", schedule.queues},
                             {"unplaced", schedule.unplaced},
                             {"makespan", schedule.makespan},
                             {"reason", schedule.reason}};
    console.out << json::write(answer) << '\n';
    return 0;
  }
  for (std::size_t host = 0; host < schedule.queues.size(); ++host) {
    console.out << fmt::format("host {:<5} {}\n", host, fmt::join(schedule.queues[host], " "));
  }
  console.out << fmt::format("makespan   {:.6g} s\n{}\n", schedule.makespan, schedule.reason);
  return 0;
}

}  // namespace

void add_map_command(CLI::App& program, Action& chosen) {
  auto* command = program.add_subcommand("map", "maps one batch of tasks to hosts");
  const auto options = std::make_shared<MapOptions>();
  command->add_option("instance", options->file, "INSTANCE.json, see gleaner-sim(1)")->required();
  command->add_option("--strategy", options->strategy, "NAME[,key=value...], see gleaner-sim strategies")
      ->required();
  command->add_flag("--json", options->json, "print JSON");
  on_parse(command, chosen, options, map);
}

}  // namespace gleaner::simulator
