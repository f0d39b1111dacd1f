// A scenario: what is simulated, as a TOML file says it (SCENARIO.md explains every key), and the instance of
// it that a seed makes. Bad files are errors that name file, line, key and what was expected.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/result.h"
#include "tools/simulator/cheats.h"
#include "tools/simulator/grid.h"
#include "tools/simulator/job.h"
#include "tools/simulator/population.h"
#include "tools/simulator/relays/world.h"

namespace gleaner::simulator {

// One [[fleet]]: hosts drawn from the synthetic population, or listed by their speeds and always on.
struct FleetSetup {
  std::int64_t hosts = 0;
  Mix mix;
  double harsh = 1;
  std::vector<double> speeds;                      // listed hosts
  std::vector<double> benchmarks;                  // theirs; empty: the speeds
  std::vector<double> joins;                       // when they look for work first; empty: at once
  std::vector<double> queues;                      // that they report; empty: 1
  std::vector<GridHost> traced;                    // of a trace file, with their events
  std::int64_t slots = 0;                          // of each of those
  std::function<void(Habits&)> habits = {};        // what it changes of them
  double latency = 0, down_mbit = 0, up_mbit = 0;  // 0: no limit
  double wrong = 0;  // chance that a unit's results are wrong, on `liars` of the hosts
  double liars = 1;
  FleetOutages outages;
  double rate_noise = 0;
  bool own = true;
  Cheat cheats = Cheat::none;      // all of its hosts
  double boast = 1, boasters = 1;  // so many times as fast, that share of the hosts says
  double watts = 0, watts_spread = 0;
  bool steady = false;  // nothing befalls hosts that are drawn
};

// [relays]: the tree between the server and its hosts.
struct RelaysSetup {
  bool given = false;
  std::vector<double> children;  // of the server, of each of its relays, and so on
  policy::RelayRules rules;
  std::string service = "bc";                      // order of those that wait
  double latency = 0, up_mbit = 0, down_mbit = 0;  // 0: no limit
  double cut_gap = 0, cut_length = 0, off_gap = 0, off_length = 0, vanish_mean = 0;
  double until = 0;  // s; 0: to the end
};

// One [[problem]]: ideal_seconds > 0 sizes it; else `items` of item_seconds each.
struct ProblemSetup {
  std::string name;
  JobSetup job;
  std::int64_t items = 0;
  double bytes_in = 0, bytes_out = 0;  // of an item
  bool checkpoint = false;
  bool progress = true;
  bool may_split = true;
  std::string validation;  // empty: none
  double weight = 1;
  std::int64_t priority = 0;
  double arrives = 0;  // s
};

struct Scenario {
  std::string name;
  double start_hour = 10;  // of the week
  std::vector<ProblemSetup> problems;
  std::vector<FleetSetup> fleets;
  // [server]
  std::string strategy = "gleaner";
  std::string straggler = "split";
  policy::EndgameRules rules;
  std::vector<double> restarts;  // seconds
  double service_seconds = 0;
  bool knows_benchmark = true;  // what a benchmark is worth in items a second, before any host has shown it
  // [network]
  double request_delay = 2;
  bool prefetch = true;
  double commit_seconds = 60;
  // [failures]
  double kernel_failures = 0;  // chance that a unit's kernel crashes somewhere in it
  double lost = 0, lost_retry = 15;
  double late = 0, late_seconds = 300;
  RelaysSetup relays;
};

struct Override {
  std::string key;  // dotted
  std::string value;
};

// How the scenario's files of traces and costs are read; their names are as the scenario has them.
using ReadFile = std::function<Result<std::string>(const std::string& name)>;

// `overrides` replace keys of the text; in [[fleet]] they apply to all fleets.
[[nodiscard]] Result<Scenario> read_scenario(std::string_view text, const std::string& file,
                                             const std::vector<Override>& overrides = {},
                                             const ReadFile& read_file = {});

// Hosts of a trace file (SCENARIO.md): lines "host,seconds,event,value". Errors: invalid, "FILE:12: ...".
[[nodiscard]] Result<std::vector<GridHost>> read_trace(std::string_view text, const std::string& file);

// A file of costs: a line an item, its cost and, on all lines or none, what the server is told it costs (else
// the truth). Numbers above 0. Errors: invalid, "FILE:12: ...".
[[nodiscard]] Result<Work> read_costs(std::string_view text, const std::string& file);

// Of a scenario with relays. Errors: invalid, where the hosts of that seed cannot do the job, or for what is
// not modelled there.
[[nodiscard]] Result<RelayWorld> make_relay_world(const Scenario& scenario, std::uint64_t seed);

// Errors: invalid, where the hosts of that seed cannot do the job.
[[nodiscard]] Result<GridInstance> make_instance(const Scenario& scenario, std::uint64_t seed);

}  // namespace gleaner::simulator
