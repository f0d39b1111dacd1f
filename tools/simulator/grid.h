// A stage of the live server in virtual time: hosts of given speeds compute, commit, heartbeat, ask ahead,
// pause, slow down, power off, return and vanish; every decision is made by policy::Stage, the live server's
// object. Messages take half the request delay each way; a host computes on meanwhile.
//
// Ideal is the fluid bound: the earliest time by which the speed delivered by all hosts (as their events have
// it) covers all work. Waste is kernel time times speed over the useful work, minus 1. Deterministic:
// instance and seed decide. Times in seconds, costs and speeds in true cost units (what kernels need), which
// the hints may or may not tell.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "server/policy/stage.h"
#include "shared/base/result.h"

namespace gleaner::simulator {

enum class HostEventKind : int {
  pause = 1,  // the owner is there: it answers, but computes nothing
  resume = 2,
  slow = 3,  // to `factor` of its speed, from now on
  off = 4,   // without notice: the item in progress is lost, finished ones survive
  on = 5,
  vanish = 6,  // for good
};

struct HostEvent {
  double at = 0;
  HostEventKind kind = HostEventKind::pause;
  double factor = 1;
};

struct GridHost {
  double speed = 1;  // of one slot
  int slots = 1;
  double performance = 0;  // its benchmark; 0: the speed
  double joins_at = 0;
  std::vector<HostEvent> events = {};  // by time
};

struct GridInstance {
  std::int64_t items = 0;
  std::vector<double> costs;  // true costs, one an item; empty: all 1
  bool hints = true;          // whether the stage knows them
  std::vector<GridHost> hosts;
  std::string sizing = "wis";
  policy::Straggler straggler = policy::Straggler::split;
  bool may_split = true;
  policy::EndgameRules rules;
  double request_delay = 0.02;  // round trip
  double commit_seconds = 60;   // between commits inside a unit
  bool prefetch = true;
  double failure_chance = 0;     // that a unit's kernel fails somewhere in it
  std::vector<double> restarts;  // times at which the server is restored from what it stored
  std::uint64_t seed = 1;
  double give_up_after = 1e7;
  bool check_invariants = true;  // after every event at the server
};

struct GridHostResult {
  double work = 0;    // true cost computed, useful or not
  double dry_at = 0;  // when a slot of it last computed
  std::int64_t units = 0;
};

struct GridRun {
  bool complete = false;
  double makespan = 0;
  double ideal = 0;
  double waste = 0;
  double first_dry = 0;       // when the first host that was on to the end ran dry for good
  std::int64_t requests = 0;  // for work
  std::int64_t events = 0;
  policy::StageCounts counts;
  std::vector<GridHostResult> hosts;
  std::vector<policy::Decision> decisions;
};

// Errors: invalid, for an instance without items or hosts, or with numbers that cannot be.
[[nodiscard]] Result<GridRun> run_grid(const GridInstance& instance);

// The fluid bound of an instance; infinite if its hosts can never finish.
[[nodiscard]] double ideal_makespan(const GridInstance& instance);

}  // namespace gleaner::simulator
