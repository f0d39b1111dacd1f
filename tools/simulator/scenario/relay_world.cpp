// A scenario with relays as a world of compact hosts.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "shared/base/random.h"
#include "tools/simulator/fluid.h"
#include "tools/simulator/scenario/scenario.h"

namespace gleaner::simulator {
namespace {

constexpr std::int64_t drawn_at_once = 100'000;
constexpr double give_up_ideals = 6, give_up_extra = 6 * 3600;  // as in tools/simulator/MODEL.md
// Every node sums up the costs of all items, where they differ.
constexpr double sums_max = 2e8;

// What a tree of relays does not model is a mistake, not something that is left out in silence.
Status check_modelled(const Scenario& scenario) {
  const auto refuse = [](const char* key) {
    return Error{ErrorKind::invalid, fmt::format("{} is not modelled together with relays", key)};
  };
  if (scenario.problems.size() != 1) return refuse("more than one problem");
  const ProblemSetup& problem = scenario.problems.front();
  if (problem.checkpoint) return refuse("problem.checkpoint");
  if (!problem.validation.empty()) return refuse("problem.validation");
  if (problem.arrives > 0) return refuse("problem.arrives");
  if (scenario.strategy != "gleaner" && scenario.strategy != "wis")
    return refuse("another strategy than gleaner");
  if (scenario.straggler != "split") return refuse("another straggler rule than split");
  if (!scenario.restarts.empty()) return refuse("server.restarts");
  if (scenario.service_seconds > 0) return refuse("server.service_seconds");
  if (scenario.kernel_failures > 0 || scenario.lost > 0 || scenario.late > 0) return refuse("[failures]");
  for (const FleetSetup& fleet : scenario.fleets) {
    if (fleet.latency > 0) return refuse("fleet.latency");
    if (fleet.wrong > 0 || fleet.cheats != Cheat::none || fleet.boast != 1 || !fleet.own)
      return refuse("a fleet that lies, boasts or is not its project's");
    if (fleet.rate_noise > 0) return refuse("fleet.rate_noise");
    if (fleet.outages.any()) return refuse("an outage or cut of a fleet");
  }
  return {};
}

double byte_seconds(double mbit) {
  return mbit > 0 ? 8 / (mbit * 1e6) : 0;
}

// Hosts that nothing befalls, a few at a time: a host of the grid is ten times as big.
Result<double> add_steady(const Scenario& scenario, const FleetSetup& fleet, Random& seeds,
                          RelayWorld& world) {
  double speed = 0;
  for (std::int64_t left = fleet.hosts; left > 0; left -= drawn_at_once) {
    PopulationSetup setup;
    setup.hosts = static_cast<int>(std::min(left, drawn_at_once));
    setup.slots = static_cast<int>(fleet.slots);
    setup.mix = fleet.mix;
    setup.start_hour = scenario.start_hour;
    setup.seed = seeds.next();
    for (const GridHost& host : make_population(setup)) {
      speed += host.speed * host.slots;
      world.hosts.push_back({static_cast<float>(host.speed), static_cast<float>(host.performance), -1,
                             static_cast<std::uint16_t>(host.slots),
                             static_cast<float>(byte_seconds(fleet.down_mbit)),
                             static_cast<float>(byte_seconds(fleet.up_mbit))});
    }
  }
  return speed;
}

}  // namespace

Result<RelayWorld> make_relay_world(const Scenario& scenario, std::uint64_t seed) {
  TRY(check_modelled(scenario));
  RelayWorld world;
  const ProblemSetup& setup = scenario.problems.front();
  const bool steady = std::all_of(scenario.fleets.begin(), scenario.fleets.end(),
                                  [](const FleetSetup& fleet) { return fleet.steady; });
  Random seeds(seed);
  GridInstance instance;  // of hosts that something befalls, and of small fleets
  if (steady) {
    double speed = 0;
    std::int64_t count = 0;
    for (const FleetSetup& fleet : scenario.fleets) count += fleet.hosts;
    world.hosts.reserve(static_cast<std::size_t>(count));
    for (const FleetSetup& fleet : scenario.fleets) {
      TRY_ASSIGN(const double added, add_steady(scenario, fleet, seeds, world));
      speed += added;
    }
    // One host as fast as all of them sizes the job: its bound is the same.
    instance.hosts.emplace_back();
    instance.hosts.back().speed = speed;
  } else {
    Scenario alone = scenario;
    alone.relays = {};
    TRY_ASSIGN(instance, make_instance(alone, seed));
  }
  if (steady) {
    JobSetup job = setup.job;
    job.seed = seed;
    if (setup.items > 0) job.ideal_seconds = 0;
    TRY(set_job(job, setup.items, instance));
    for (WorldHost& host : world.hosts) host.speed /= static_cast<float>(instance.item_seconds);
  } else {
    for (GridHost& host : instance.hosts) {
      const bool lively = host.owner || !host.events.empty() || host.joins_at > 0;
      const double performance = host.performance > 0 ? host.performance : host.speed;
      world.hosts.push_back({static_cast<float>(host.speed), static_cast<float>(performance),
                             lively ? static_cast<std::int32_t>(world.lively.size()) : -1,
                             static_cast<std::uint16_t>(host.slots),
                             static_cast<float>(host.download_byte_seconds),
                             static_cast<float>(host.upload_byte_seconds)});
      if (lively) world.lively.push_back(std::move(host));
    }
  }
  static_cast<GridProblem&>(world.problem) = std::move(static_cast<GridProblem&>(instance));
  world.problem.bytes_in = setup.bytes_in;
  world.problem.bytes_out = setup.bytes_out;
  world.problem.may_split = setup.may_split;
  world.problem.progress = setup.progress;
  world.ideal_seconds = instance.ideal_seconds;
  world.benchmark_known = scenario.knows_benchmark;
  world.rules = scenario.rules;
  world.rules.request_delay = std::min(scenario.rules.request_delay, scenario.request_delay);
  world.request_delay = scenario.request_delay;
  world.commit_seconds = scenario.commit_seconds;
  const RelaysSetup& relays = scenario.relays;
  double nodes = 1, beside = 1;
  for (const double children : relays.children) {
    world.children.push_back(static_cast<std::int64_t>(children));
    beside *= children;
    nodes += beside;
  }
  if (!world.problem.costs.empty() && nodes * static_cast<double>(world.problem.items) > sums_max)
    return Error{ErrorKind::too_large, fmt::format("{} items under {:.0f} nodes: expected profile uniform",
                                                   world.problem.items, nodes)};
  world.relay = relays.rules;
  world.service = relays.service;
  world.latency = relays.latency;
  world.up_byte_seconds = byte_seconds(relays.up_mbit);
  world.down_byte_seconds = byte_seconds(relays.down_mbit);
  world.cut_gap = relays.cut_gap;
  world.cut_length = relays.cut_length;
  world.off_gap = relays.off_gap;
  world.off_length = relays.off_length;
  world.vanish_mean = relays.vanish_mean;
  world.seed = seeds.next();
  world.until = relays.until > 0 ? relays.until : give_up_ideals * world.ideal_seconds + give_up_extra;
  return world;
}

}  // namespace gleaner::simulator
