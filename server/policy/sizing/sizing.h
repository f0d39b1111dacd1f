// Sizing strategies for a divisible range of items: how many the next unit of a requesting host gets.
//
// Each strategy's file names its paper; server/policy/sizing/SIZING.md has the rules around them. Paper mode
// reproduces the published rules exactly; grid mode clamps the same sizes by target duration, minimum
// duration and half a lease, from measured rates (the same page, "Grid mode").
//
// A strategy is a pure function of a SizingView: no clock, no state, no randomness. What it must remember of
// a host is in WorkerView, what it must remember of the stage is in StageMemory; both are handed back in Size
// and stored, so that a restart, the simulator and a replay all reach the same decisions.
//
// To add one: a file <name>.cpp with a class, a line in the table of sizing.cpp, a test.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/policy/options/options.h"
#include "shared/base/ids.h"
#include "shared/base/result.h"

namespace gleaner::policy {

enum class SizingMode : int { paper = 1, grid = 2 };

// What the live grid adds; the defaults of `paper` switch it off.
struct GridLimits {
  double target_seconds = std::numeric_limits<double>::infinity();   // most work in one unit
  double minimum_seconds = 0;                                        // least, while there is plenty
  double lease_seconds = std::numeric_limits<double>::infinity();    // half of it is the most
  double maximum_seconds = std::numeric_limits<double>::infinity();  // most work in one unit at any time
};

// What a worker's finished units say of its speed, as sums to which each one adds. Items are those of a
// typical cost (the caller's mean cost) where hints tell items apart.
struct WorkTimes {
  // By unit, the k-th counted k times (AWF): its items, the seconds that it was computed, and those from the
  // assignment to the result.
  std::int64_t units = 0;
  double weighted_items = 0;
  double weighted_seconds = 0;
  double weighted_elapsed = 0;
  // By measured piece (AF): the simulator measures every item, the live server what lies between two reports.
  double pieces = 0;
  double items = 0;
  double seconds = 0;
  double squares = 0;  // of seconds, each over its piece's items

  void add_unit(double unit_items, double unit_seconds, double elapsed);
  void add_piece(double piece_items, double piece_seconds);
  // The same work in items that cost `factor` times as much.
  [[nodiscard]] WorkTimes in_items_of(double factor) const;

  [[nodiscard]] double rate() const;               // weighted items a second of computing; 0 unknown
  [[nodiscard]] double rate_with_waiting() const;  // and a second from assignment to result
  [[nodiscard]] double mean() const;               // seconds an item, over all pieces; 0 unknown
  [[nodiscard]] double variance() const;           // of one item's seconds; 0 for fewer than two pieces
};

// What a strategy remembers of the stage as a whole: where it is in a batch. All 0 before its first unit.
struct StageMemory {
  std::int64_t units = 0;  // that it has handed out
  std::int64_t base = 0;   // items that were free when the present batch began
  std::int64_t left = 0;   // units of that batch still to be handed out
  friend bool operator==(const StageMemory&, const StageMemory&) = default;
};

// What a strategy may know of one worker (a host's slot in the grid; a machine in the papers).
struct WorkerView {
  HostId host;
  double performance = 0;     // unloaded performance from the benchmark (Pu), any unit; 0 unknown
  double queue_unloaded = 1;  // Qu
  double queue_current = 1;   // Qc
  double proposed_items = 0;  // what the worker itself proposes (WIS); 0: none
  double rate = 0;            // items per second as measured here; 0 unknown
  double rate_estimate = 0;   // while rate is unknown: from the benchmark and the rates of others; 0 unknown
  double used_performance = 0;    // kept for the strategy (hysteresis); 0 before the first use
  std::int64_t requests = 0;      // R_i: units handed to it in this stage so far
  std::int64_t returned = 0;      // units it has returned at least partly
  std::int64_t current_size = 0;  // kept for the strategy: its last size before clamping, or what it says
  bool available = true;          // not omitted, not gone
  double clock = 0;               // its processor's clock, any unit; 0 unknown
  WorkTimes times;
};

// Sums over all workers. A caller with very many keeps them up to date instead of listing everybody in the
// view; workers = 0: the strategy sums over the list.
struct FleetTotals {
  std::int64_t workers = 0;  // Wt
  std::int64_t known = 0;    // K: have returned a unit
  double known_sum = 0;      // of their performance as in use (MIS)
  double known_least = 0;
  double slowest_performance = 0;  // of all benchmarks; 0 unknown
  double rate_sum = 0;             // items per second of those that are on, estimates included
  double slowest_rate = 0;         // of all, estimates included
  double performance_sum = 0;      // of all benchmarks, an unknown one counted as the slowest; 0 unknown
  // Of workers whose `times` say something:
  std::int64_t timed = 0;
  double times_rate_sum = 0;               // rate()
  double times_rate_with_waiting_sum = 0;  // rate_with_waiting()
  double times_mean_rate_sum = 0;          // 1 / mean()
  double times_variance_sum = 0;           // variance() / mean()
};

struct SizingView {
  std::int64_t items = 0;               // T
  std::int64_t free = 0;                // Tb: not handed out
  std::int64_t completed = 0;           // accepted
  std::span<const WorkerView> workers;  // all of the configuration (Wt = its size), requester included
  FleetTotals fleet;                    // optional, see there
  std::size_t requester = 0;            // index into workers
  double free_cost = 0;                 // hint units in `free`; equals free where there are no hints
  double mean_cost = 1;                 // hint units of a typical free item
  double remaining_seconds = 0;         // until free and stalled work is done at the present rates; 0 unknown
  double guided_fraction = 0;           // of it that a unit should last (f); 0: the strategy's own
  double cost_variation = 0;            // of all items by the hints: standard deviation over mean
  GridLimits limits;
  StageMemory memory;
  bool explain = true;  // false: nobody reads Size::reason
};

struct Size {
  std::int64_t items = 0;         // 0: nothing for this worker (static: its share is handed out)
  double used_performance = 0;    // to be kept in WorkerView
  std::int64_t current_size = 0;  // to be kept in WorkerView
  std::string reason;             // one sentence: the rule, its numbers, and what clamped it
  StageMemory memory = {};        // to be kept in SizingView
};

class SizingStrategy {
 public:
  virtual ~SizingStrategy() = default;
  // REQUIRES: view.free > 0 and requester < workers.size(). Answers 0 <= items <= free.
  [[nodiscard]] virtual Size size(const SizingView& view) const = 0;
  // "wis,shrink=single,hysteresis=a": parses back to an equal strategy.
  [[nodiscard]] virtual std::string text() const = 0;
  [[nodiscard]] virtual SizingMode mode() const = 0;
  // False: it looks at nobody but the requester, who may then stand in the view alone.
  [[nodiscard]] virtual bool compares() const { return true; }
};

// "NAME[,key=value...]"; errors name the key and what it takes. mode=paper|grid (default grid) is understood
// by all.
[[nodiscard]] Result<std::unique_ptr<SizingStrategy>> make_sizing(std::string_view text);

[[nodiscard]] std::vector<StrategyInfo> sizing_strategies();

}  // namespace gleaner::policy
