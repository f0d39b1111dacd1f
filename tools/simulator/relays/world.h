// A tree of relays in virtual time: a server, relays under it (and relays under those), and millions of
// hosts under the lowest. Every node is the live server's policy::Stage, every relay's side of its parent the
// live policy::Relay; only messages and hosts are simulated. Hosts are a few dozen bytes; what befalls them
// is made on the fly (trace.h), or nothing does.
//
// Nodes hear from each other no sooner than a message takes: so long each runs ahead of the others, on any
// thread. The same world and seed give the same run on any number of them. Times in seconds, costs and speeds
// in cost units, as in grid.h. [tools/simulator/MODEL.md, "Relays"]
#pragma once

#include <cstdint>
#include <vector>

#include "server/policy/relay/relay.h"
#include "shared/base/result.h"
#include "tools/simulator/grid.h"

namespace gleaner::simulator {

struct WorldHost {
  float speed = 1;           // of a slot
  float performance = 1;     // its benchmark
  std::int32_t lively = -1;  // among RelayWorld::lively; -1: it is always on, and nothing befalls it
  std::uint16_t slots = 1;
  float down_byte_seconds = 0, up_byte_seconds = 0;  // of its link; 0: as fast as can be
};

struct RelayWorld {
  GridProblem problem;  // checkpoints and validation are not modelled here
  std::vector<WorldHost> hosts;
  std::vector<GridHost> lively;  // hosts with events or owners
  // Relays under the server, under each of those, and so on; empty: all hosts are the server's own. Hosts are
  // divided among the lowest, in order.
  std::vector<std::int64_t> children;
  policy::RelayRules relay;
  policy::EndgameRules rules;
  std::string sizing = "gleaner";
  std::string service = "bc";  // which of those that wait at a relay is next (shared/planning/serving.h)
  double request_delay = 2;    // round trip, of hosts and of relays
  double latency = 0;          // of a relay's link, added each way
  double up_byte_seconds = 0, down_byte_seconds = 0;
  double commit_seconds = 60;
  double lost_retry = 15;  // seconds for which a relay waits for an answer
  // What befalls relays, each for itself; seconds, exponential; 0: nothing.
  double cut_gap = 0, cut_length = 0;  // its link is gone: its hosts go on
  double off_gap = 0, off_length = 0;  // it is off, and comes back with all that it had: its hosts wait
  double vanish_mean = 0;              // it is gone for good, its hosts with it
  bool benchmark_known = true;
  std::uint64_t seed = 1;
  double until = 1e7;
  double ideal_seconds = 0;  // the fluid bound
  int threads = 1;
  std::int64_t check_every = 0;  // as in grid.h, at every node
};

// What all nodes of a level heard and said; the server is level 0.
struct RelayLevel {
  std::int64_t nodes = 0;
  std::int64_t messages = 0;     // heard from below
  std::int64_t peak_second = 0;  // most messages that one node heard in one second
  std::int64_t segments = 0, reports = 0, requests = 0, grants = 0;
  double bytes_up = 0, bytes_down = 0;  // from and to below, bodies and payload
  double policy_seconds = 0;            // of processor time that its decisions took
  std::int64_t splits = 0, copies = 0, recovered = 0;
};

struct RelayRun {
  bool complete = false;
  double makespan = 0, ideal = 0, waste = 0;
  double t95 = 0;  // when 95 % of the cost was accepted by the server
  std::int64_t hosts = 0, slots = 0, events = 0;
  std::int64_t items_credited = 0;  // accepted by the server, by whom it was told: no item twice
  std::int64_t relays_gone = 0, relays_cut = 0;
  std::vector<RelayLevel> levels;
};

// Errors: invalid, for a world without items or hosts, or with fewer hosts than lowest relays.
[[nodiscard]] Result<RelayRun> run_relay_world(const RelayWorld& world);

}  // namespace gleaner::simulator
