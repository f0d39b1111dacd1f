// Sizing strategies for a divisible range of items: how many the next unit of a requesting host gets.
//
// Source: Qureshi and Hatanaka, Malaysian J. Comp. Sci. 12(2), 1999 (static, RTS, MIS, WIS), as read in the
// project's specification of divisible strategies: equations (1)-(12) and the rules around them.
// Paper mode reproduces those rules exactly; grid mode clamps the same sizes by target duration, minimum
// duration and half a lease, from measured rates (section 4 of that specification).
//
// A strategy is a pure function of a SizingView: no clock, no state, no randomness. What it must remember of
// a host (the performance it last used, its request count) is in WorkerView and handed back in Size, so that
// a restart, the simulator and a replay all reach the same decisions.
//
// To add one: a file sizing_<name>.cpp with a class, a line in the table of sizing.cpp, a test.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/ids.h"
#include "shared/base/result.h"

namespace gleaner::policy {

enum class SizingMode : int { paper = 1, grid = 2 };

// What the live grid adds; the defaults of `paper` switch it off.
struct GridLimits {
  double target_seconds = std::numeric_limits<double>::infinity();  // most work in one unit
  double minimum_seconds = 0;                                       // least, while there is plenty
  double lease_seconds = std::numeric_limits<double>::infinity();   // half of it is the most
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
  GridLimits limits;
};

struct Size {
  std::int64_t items = 0;         // 0: nothing for this worker (static: its share is handed out)
  double used_performance = 0;    // to be kept in WorkerView
  std::int64_t current_size = 0;  // to be kept in WorkerView
  std::string reason;             // one sentence: the rule, its numbers, and what clamped it
};

class SizingStrategy {
 public:
  virtual ~SizingStrategy() = default;
  // REQUIRES: view.free > 0 and requester < workers.size(). Answers 0 <= items <= free.
  [[nodiscard]] virtual Size size(const SizingView& view) const = 0;
  // "wis,shrink=single,hysteresis=a": parses back to an equal strategy.
  [[nodiscard]] virtual std::string text() const = 0;
  [[nodiscard]] virtual SizingMode mode() const = 0;
};

// "NAME[,key=value...]"; errors name the key and what it takes. mode=paper|grid (default grid) is understood
// by all.
[[nodiscard]] Result<std::unique_ptr<SizingStrategy>> make_sizing(std::string_view text);

struct StrategyInfo {
  std::string name;
  std::string summary;               // one line
  std::string source;                // paper and equations
  std::vector<std::string> options;  // "shrink=single|compound  ..."
};
[[nodiscard]] std::vector<StrategyInfo> sizing_strategies();

}  // namespace gleaner::policy
