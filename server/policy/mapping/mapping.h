// Mapping strategies: which host computes which task, and in which order, for a batch of tasks with known or
// estimated costs. The plan is a queue of tasks for each host.
//
// Source: A. J. Page, "Adaptive Scheduling in Heterogeneous Distributed Computing Systems", PhD thesis, NUI
// Maynooth, 2009, as read (and corrected) in server/policy/mapping/MAPPING.md.
//
// A strategy is a pure function of a MappingInput: no clock, no state; the same input and seed give the same
// schedule. Tasks and hosts are indices; the caller keeps their ids. Everything is in seconds. Thread-safe:
// strategies are immutable, so one object may plan in a background thread while others read it.
//
// Ties: of equal hosts the one with the smallest index, of equal tasks the first in the batch. Values that
// differ by less than 1e-12 of their size count as equal, so that rounding does not decide what arithmetic
// leaves open.
//
// To add one: a file <name>.cpp with a class, a line in the table of mapping.cpp, a test.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/policy/mapping/matrix.h"
#include "server/policy/options/options.h"
#include "shared/base/result.h"

namespace gleaner::policy {

struct MappingInput {
  Matrix computation;         // ETC(i,j), seconds; +inf or NaN: this task may not go to this host
  Matrix communication;       // C(i,j), seconds; likewise. Same shape; no rows: no communication
  Matrix error;               // ET(i,j), predicted relative error of ETC; no rows: unknown, 1
  std::vector<double> start;  // ST(j), seconds from now until host j is idle; +inf: gets nothing
  // Optional (empty: taken from the mean of `computation`), only their proportions matter:
  std::vector<double> work;   // T(i), for example MFLOP
  std::vector<double> rates;  // P(j), work a second
  // Optional (empty: alike), for the similarity strategies:
  std::vector<double> bytes;      // A(i), to be transferred
  std::vector<double> bandwidth;  // B(j), bytes a second
  std::uint64_t seed = 1;
  std::uint64_t placed_before = 0;  // tasks placed by earlier batches: round robin goes on from there
  // Asked once a generation (of a search) and between seeds; true: the best plan so far is returned. May look
  // at a clock or at another thread's wish, which is how a caller ends a background search. Null: never.
  std::function<bool()> stop;

  [[nodiscard]] std::size_t tasks() const { return computation.rows(); }
  [[nodiscard]] std::size_t hosts() const { return start.size(); }
};

struct Schedule {
  std::vector<std::vector<std::size_t>> queues;  // one a host, in order of execution
  std::vector<std::size_t> unplaced;             // fit nowhere, in batch order
  double makespan = 0;       // predicted: the largest start + computation + communication of a queue
  std::int64_t steps = 0;    // generations, levels or iterations of a search; 0 for the others
  std::uint64_t placed = 0;  // placed_before and what this batch added
  std::string reason;        // one sentence: the rule and its numbers
};

class MappingStrategy {
 public:
  virtual ~MappingStrategy() = default;
  // REQUIRES: matrices of tasks() rows and hosts() columns (or no rows where that is allowed), start times
  // that are not negative. Every task is in exactly one queue or unplaced.
  [[nodiscard]] virtual Schedule generate(const MappingInput& input) const = 0;
  // "fe,beta=0.1,case=best": parses back to an equal strategy.
  [[nodiscard]] virtual std::string text() const = 0;
};

// "NAME[,key=value...]"; errors name the key and what it takes.
[[nodiscard]] Result<std::unique_ptr<MappingStrategy>> make_mapping(std::string_view text);
[[nodiscard]] std::vector<StrategyInfo> mapping_strategies();

// max over the hosts that can be used of start + (computation + communication) of the queue, added in order.
[[nodiscard]] double predicted_makespan(const MappingInput& input,
                                        const std::vector<std::vector<std::size_t>>& queues);

// Algorithm B.1, O(tasks + hosts): every task once (in a queue where it may be, or unplaced because it fits
// nowhere) and a makespan of at most `bound`. The error says which rule is broken.
[[nodiscard]] Status verify_schedule(const MappingInput& input, const Schedule& schedule, double bound);

}  // namespace gleaner::policy
