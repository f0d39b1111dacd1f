// The chromosomes of the genetic strategies and the operators on them. A chromosome is a permutation of the
// tasks 0..N-1 and of M-1 delimiters N..N+M-2, each of its own (as printed, all are -1, and the cycle
// crossover then loses and doubles tasks): host 0 executes what stands before the first delimiter, in order,
// and so on. Source: Page 2009, algorithm 3.1; Zomaya and Teh 2001. Internal to the module. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "server/policy/mapping/costs.h"
#include "shared/base/random.h"

namespace gleaner::policy {

using Gene = std::int32_t;

struct Load {
  double makespan = 0;
  double least = 0;
  double mean = 0;
};

// The tasks and hosts of a batch without those that cannot be used, with finite costs: a pair that may not be
// costs more than everything else together, so that no search keeps it.
class DenseCosts {
 public:
  DenseCosts(const MappingInput& input, const MappingCosts& costs);

  [[nodiscard]] std::size_t tasks() const { return tasks_.size(); }
  [[nodiscard]] std::size_t hosts() const { return hosts_.size(); }
  [[nodiscard]] double operator()(std::size_t task, std::size_t host) const {
    return values_[task * hosts_.size() + host];
  }
  [[nodiscard]] double start(std::size_t host) const { return start_[host]; }

  // Indices of the batch and back.
  [[nodiscard]] std::vector<Gene> encode(const std::vector<std::vector<std::size_t>>& queues) const;
  // A task on a host where it may not be (a random chromosome) is put where it finishes first.
  [[nodiscard]] std::vector<std::vector<std::size_t>> decode(const std::vector<Gene>& genes,
                                                             const MappingInput& input,
                                                             const MappingCosts& costs) const;

 private:
  std::vector<std::size_t> tasks_;
  std::vector<std::size_t> hosts_;
  std::vector<double> values_;
  std::vector<double> start_;
};

// The load of each host is its start time and its costs, added in order. `loads` gets one a host.
[[nodiscard]] Load evaluate(const DenseCosts& costs, const std::vector<Gene>& genes,
                            std::vector<double>& loads);

// Exchanges all places of one cycle, the one through a random place, between two permutations of the same
// genes. `places` is scratch.
void cycle_crossover(std::vector<Gene>& a, std::vector<Gene>& b, std::vector<std::size_t>& places,
                     Random& random);

void swap_random_genes(std::vector<Gene>& genes, std::size_t swaps, Random& random);

// Between the most and the least loaded host: a random task of the first is exchanged with one of up to five
// random tasks of the second if both then end before the first did; else it moves over if that holds.
// `loads` are those of the genes, and are kept up to date. O(N + M). Never raises the makespan.
void rebalance(const DenseCosts& costs, std::vector<Gene>& genes, std::vector<double>& loads, Random& random);

}  // namespace gleaner::policy
