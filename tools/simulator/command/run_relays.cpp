// run, of a scenario with relays: how long it takes, and what each level of the tree hears and says.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ostream>

#include "shared/json/text.h"
#include "tools/simulator/command/run.h"

namespace gleaner::simulator {
namespace {

json::Value value_of(const RelayLevel& level, double seconds) {
  return {{"nodes", level.nodes},
          {"messages", level.messages},
          {"messages_per_second", static_cast<double>(level.messages) / seconds},
          {"peak_second", level.peak_second},
          {"segments", level.segments},
          {"reports", level.reports},
          {"requests", level.requests},
          {"grants", level.grants},
          {"bytes_up", level.bytes_up},
          {"bytes_down", level.bytes_down},
          {"policy_seconds", level.policy_seconds},
          {"splits", level.splits},
          {"copies", level.copies},
          {"recovered", level.recovered}};
}

json::Value value_of(const RelayRun& run, std::uint64_t seed) {
  json::Value value{{"seed", seed},
                    {"complete", run.complete},
                    {"makespan", run.makespan},
                    {"ideal", run.ideal},
                    {"ratio", run.makespan / run.ideal},
                    {"t95", run.t95 / run.ideal},
                    {"waste", run.waste},
                    {"hosts", run.hosts},
                    {"slots", run.slots},
                    {"events", run.events},
                    {"items_credited", run.items_credited},
                    {"relays_gone", run.relays_gone},
                    {"relays_cut", run.relays_cut}};
  for (const RelayLevel& level : run.levels) value["levels"].push_back(value_of(level, run.makespan));
  return value;
}

void print(std::ostream& out, const RelayRun& run, std::uint64_t seed) {
  out << fmt::format(
      "seed {}: makespan {:.1f} s{}, ratio {:.4f}, T95 {:.3f}, waste {:.3f} %, {} relays gone, {} cut\n\n",
      seed, run.makespan, run.complete ? "" : " (incomplete)", run.makespan / run.ideal, run.t95 / run.ideal,
      100 * run.waste, run.relays_gone, run.relays_cut);
  out << fmt::format(
      "{:<10} {:>7} {:>12} {:>12} {:>10} {:>12} {:>12} {:>11} {:>11} {:>10} {:>10} {:>8} {:>8}\n", "level",
      "nodes", "messages", "a second", "peak", "segments", "reports", "requests", "grants", "MB up",
      "MB down", "splits", "copies");
  for (std::size_t i = 0; i < run.levels.size(); ++i) {
    const RelayLevel& level = run.levels[i];
    out << fmt::format(
        "{:<10} {:>7} {:>12} {:>12.2f} {:>10} {:>12} {:>12} {:>11} {:>11} {:>10.1f} {:>10.1f} {:>8} {:>8}\n",
        i == 0 ? "server" : fmt::format("relays {}", i), level.nodes, level.messages,
        static_cast<double>(level.messages) / run.makespan, level.peak_second, level.segments, level.reports,
        level.requests, level.grants, level.bytes_up / 1e6, level.bytes_down / 1e6, level.splits,
        level.copies);
  }
  out << '\n';
}

}  // namespace

Result<int> run_relays(Console& console, const Scenario& scenario, Seeds seeds, int threads,
                       std::int64_t check_every, bool as_json) {
  json::Value document{{"scenario", scenario.name}, {"children", scenario.relays.children}};
  json::Value entry{{"strategy", scenario.strategy}, {"straggler", scenario.straggler}};
  for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
    TRY_ASSIGN(RelayWorld world, make_relay_world(scenario, seed));
    world.threads = threads;
    // As in a grid of as many hosts: all that a node knows now and then, what a message changed always.
    world.check_every = check_every >= 0 ? check_every : world.hosts.size() <= 1000 ? 100 : 0;
    if (seed == seeds.first && !as_json)
      console.out << fmt::format(
          "{}: {} hosts, {} items, ideal {:.0f} s, relays under each node: {}\n\n", scenario.name,
          world.hosts.size(), world.problem.items, world.ideal_seconds,
          world.children.empty() ? "none" : fmt::format("{}", fmt::join(world.children, ", ")));
    TRY_ASSIGN(const RelayRun run, run_relay_world(world));
    if (as_json) {
      entry["runs"].push_back(value_of(run, seed));
    } else {
      print(console.out, run, seed);
    }
  }
  document["strategies"].push_back(entry);
  document["peak_megabytes"] = peak_megabytes();
  if (as_json) {
    console.out << json::write(document, {2}) << '\n';
  } else {
    console.out << fmt::format("at most {:.0f} MB\n", peak_megabytes());
  }
  return 0;
}

}  // namespace gleaner::simulator
