// The stages of the live server in virtual time: hosts of given speeds compute, commit, heartbeat, ask ahead,
// pause, slow down, power off, return and vanish; policy::Project, the live server's object, makes every
// decision. Messages take half the request delay each way; a host computes on meanwhile.
//
// Ideal is the fluid bound (fluid.h). Waste is kernel time times speed over the useful work, minus 1.
// Deterministic: instance and seed decide. Times in seconds, costs and speeds in true cost units (what
// kernels need), which the hints may or may not tell.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/policy/dispatch/log_sink.h"
#include "server/policy/stage/stage.h"
#include "shared/base/result.h"
#include "tools/simulator/simulated_host.h"

namespace gleaner::simulator {

// How long a unit was in hand at a slot; kept if asked for.
struct GridSpan {
  std::uint32_t host = 0, slot = 0;
  double from = 0, to = 0;
  policy::UnitKind kind = policy::UnitKind::fresh;
  std::uint32_t problem = 0;
};

struct GridGrant {
  double at = 0;
  std::uint32_t host = 0;
  std::int64_t items = 0;
  policy::UnitKind kind = policy::UnitKind::fresh;
};

// Slots at one moment: of hosts that are on and not paused, and of those that have a unit.
struct GridSample {
  double at = 0;
  std::int64_t able = 0, busy = 0;
};

struct GridProblem {
  std::int64_t items = 0;
  std::vector<double> costs;           // true costs, one an item; empty: all 1
  bool hints = true;                   // whether the stage knows them, or `hint_costs` in their place
  std::vector<double> hint_costs;      // what the stage is told, if that is not the truth
  double item_seconds = 1;             // what a mean item means: its time on a slot of unit speed
  double transfer_seconds = 0;         // of an item to any host, besides its link's
  double bytes_in = 0, bytes_out = 0;  // of an item, over its host's link
  bool may_split = true;
  // Kernels save the item in progress: it survives a power cut, and goes on elsewhere. What a liar saved of
  // an item is right all the same.
  bool checkpoint = false;
  bool progress = true;  // kernels say how much of the item in progress is done
  // How results are validated (server/policy/trust/validation.h); empty: as with "none", and results are
  // only looked at where some host delivers wrong ones.
  std::string validation = {};
  // Among several problems: its share (server/policy/dispatch/fair_share.h), and when it is added.
  double weight = 1;
  int priority = 0;
  double arrives_at = 0;
};

// The first problem, and all that it shares with the others. Costs are in the same unit for all problems.
struct GridInstance : GridProblem {
  std::vector<GridProblem> more;
  std::vector<GridHost> hosts;
  std::string sizing = "wis";
  policy::Straggler straggler = policy::Straggler::split;
  policy::EndgameRules rules;
  double request_delay = 0.02;  // round trip
  double service_seconds = 0;   // of the server for a message: it answers one after the other
  double commit_seconds = 60;   // between commits inside a unit
  // A benchmark of 1 is a slot of unit speed, and the stage knows; else it learns.
  bool benchmark_known = false;
  bool prefetch = true;
  double failure_chance = 0;  // that a unit's kernel fails somewhere in it
  double loss_chance = 0;     // that a message, or its answer, is lost: the client sends it again
  double loss_retry = 15;     // seconds for which it waits for the answer; then it backs off
  double late_chance = 0;     // that a message takes `late_seconds` (mean, exponential) longer
  double late_seconds = 300;
  std::vector<double> restarts;  // times at which the server is restored from what it stored
  std::uint64_t seed = 1;
  double give_up_after = 1e7;
  double ideal_seconds = 0;  // the fluid bound, where it is known; 0: work it out
  // Messages at the server between two checks of all invariants, and those of what a message changed are
  // checked after it; 0: never any. All are checked at the end, too.
  std::int64_t check_every = 1;
  bool keep_decisions = true;
  double sample_seconds = 0;  // > 0: keep spans, grants, and a sample so often
  // Lines of the decision log (server/policy/dispatch/log.h).
  policy::LogSink log = {};
  // The instance itself first.
  [[nodiscard]] std::vector<const GridProblem*> problems() const;
};

struct GridHostResult {
  double work = 0;    // true cost computed, useful or not
  double dry_at = 0;  // when a slot of it last computed
  std::int64_t units = 0;
  std::int64_t items = 0;    // accepted
  double cost_accepted = 0;  // by the hints
};

struct GridProblemResult {
  bool complete = false;
  bool stopped = false;  // its application failed on most hosts
  double ended_at = 0;   // everything is accepted or set aside
  // When it would end at best if the hosts' speed were divided among the problems by their shares.
  double fair_end = 0;
};

// What came of those that lied.
struct GridTrust {
  std::int64_t liars = 0;         // hosts that delivered a wrong item
  std::int64_t found = 0;         // of these
  std::int64_t honest_found = 0;  // found wrong although they never lied
  double detection_seconds = 0;   // from the first wrong item of who was found, in the mean
};

struct GridRun {
  bool complete = false;
  double makespan = 0;
  double ideal = 0;
  double waste = 0;
  double first_dry = 0;       // when the first host that was on to the end ran dry for good
  double t95 = 0;             // when 95 % of the true cost was accepted
  double joules = 0;          // of all kernels, useful or not
  double idle_seconds = 0;    // of slots that could have computed until the end, but had nothing to do
  std::int64_t requests = 0;  // for work
  std::int64_t grants = 0;    // those that got some
  std::int64_t events = 0;    // a message at the server, an answer at its host, something due at a host
  std::int64_t decided = 0;   // what the messages brought the scheduler: reports, commits, requests, failures
  std::int64_t wrong_items = 0;  // accepted, though wrong
  GridTrust trust;
  policy::StageCounts counts;  // of all problems
  std::vector<GridProblemResult> problems;
  std::vector<GridHostResult> hosts;
  std::vector<policy::Decision> decisions;
  std::vector<GridSpan> spans;
  std::vector<GridGrant> grants_made;
  std::vector<GridSample> samples;
};

// Errors: invalid, for an instance without items or hosts, or with numbers that cannot be.
[[nodiscard]] Result<GridRun> run_grid(const GridInstance& instance);

}  // namespace gleaner::simulator
