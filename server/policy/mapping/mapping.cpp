#include "server/policy/mapping/mapping.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "server/policy/mapping/costs.h"
#include "server/policy/mapping/table.h"

namespace gleaner::policy {
namespace {

// Every strategy, in the order in which people should read about them.
const std::array<MappingEntry, 26>& table() {
  static const std::array<MappingEntry, 26> entries{mxc_entry(),  earliest_finish_entry(),
                                                    pn_entry(),   mmc_entry(),
                                                    llxc_entry(), llmc_entry(),
                                                    mx_entry(),   mm_entry(),
                                                    ll_entry(),   llx_entry(),
                                                    llm_entry(),  round_robin_entry(),
                                                    zo_entry(),   annealing_entry(),
                                                    tabu_entry(), fa_entry(),
                                                    fe_entry(),   fz_entry(),
                                                    fe_d_entry(), fz_d_entry(),
                                                    la_entry(),   le_entry(),
                                                    lz_entry(),   sb_entry(),
                                                    se_entry(),   sz_entry()};
  return entries;
}

Error broken(std::string message) {
  return {ErrorKind::invalid, std::move(message)};
}

}  // namespace

Result<std::unique_ptr<MappingStrategy>> make_mapping(std::string_view text) {
  TRY_ASSIGN(StrategyOptions options, StrategyOptions::parse(text));
  std::string names;
  for (const MappingEntry& entry : table()) {
    if (entry.info.name != options.name()) {
      names += (names.empty() ? "" : ", ") + entry.info.name;
      continue;
    }
    TRY_ASSIGN(auto strategy, entry.make(options));
    TRY(options.nothing_left());
    return strategy;
  }
  return broken(fmt::format("there is no mapping strategy '{}'; choose one of {}", options.name(), names));
}

std::vector<StrategyInfo> mapping_strategies() {
  std::vector<StrategyInfo> infos;
  for (const MappingEntry& entry : table()) infos.push_back(entry.info);
  return infos;
}

double predicted_makespan(const MappingInput& input, const std::vector<std::vector<std::size_t>>& queues) {
  double makespan = 0;
  for (std::size_t host = 0; host < queues.size(); ++host) {
    double end = input.start[host];
    for (const std::size_t task : queues[host]) {
      end += input.computation(task, host) +
             (input.communication.rows() > 0 ? input.communication(task, host) : 0);
    }
    if (std::isfinite(end)) makespan = std::max(makespan, end);
  }
  return makespan;
}

Status verify_schedule(const MappingInput& input, const Schedule& schedule, double bound) {
  if (schedule.queues.size() != input.hosts()) {
    return broken(fmt::format("{} queues for {} hosts", schedule.queues.size(), input.hosts()));
  }
  const MappingCosts costs(input, Communication::counted);
  std::vector<int> seen(input.tasks());
  for (std::size_t host = 0; host < schedule.queues.size(); ++host) {
    for (const std::size_t task : schedule.queues[host]) {
      if (task >= input.tasks()) return broken(fmt::format("host {} has the unknown task {}", host, task));
      if (++seen[task] > 1) return broken(fmt::format("task {} is placed twice", task));
      if (!std::isfinite(costs(task, host))) {
        return broken(fmt::format("task {} may not go to host {}", task, host));
      }
    }
  }
  for (const std::size_t task : schedule.unplaced) {
    if (task >= input.tasks() || ++seen[task] > 1) {
      return broken(fmt::format("the unplaced task {} is unknown or placed too", task));
    }
  }
  if (schedule.unplaced != costs.unplaced()) return broken("a task that fits somewhere is not placed");
  for (std::size_t task = 0; task < seen.size(); ++task) {
    if (seen[task] == 0) return broken(fmt::format("task {} is lost", task));
  }
  const double makespan = predicted_makespan(input, schedule.queues);
  if (makespan > bound) return broken(fmt::format("the makespan {:.9g} s is over {:.9g} s", makespan, bound));
  return {};
}

}  // namespace gleaner::policy
