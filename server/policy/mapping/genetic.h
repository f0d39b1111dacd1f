// The generations of the genetic strategies (Page 2009, algorithm 3.1, corrected). Internal to the module.
#pragma once

#include <functional>

#include "server/policy/mapping/chromosome.h"

namespace gleaner::policy {

enum class Fitness : int {
  makespan = 0,    // 1 / (makespan + 0.001 * (makespan - mean load))
  printed = 1,     // 1 / (1 + (largest load - least load)): inverts the order of some pairs
  utilisation = 2  // mean load / makespan^2 (Zomaya and Teh)
};

struct GeneticSettings {
  Fitness fitness = Fitness::makespan;
  int population = 20;
  int generations = 1000;
  int stagnation = 10;   // generations without a better makespan until it stops; 0: never
  int rebalances = 1;    // of each child in each generation
  bool adaptive = true;  // more mutation while nothing gets better
};

struct GeneticResult {
  std::vector<Gene> best;
  double makespan = 0;
  std::int64_t generations = 0;
  const char* end = "";       // why it stopped
  std::vector<double> trace;  // the best makespan of each generation, the initial one first
};

// Pairs at random, cycle crossover, swaps, rebalancing; roulette over parents and children; the best by
// makespan always lives on. `initial` is filled up to the population with its own members, a twentieth of
// their genes swapped. The best makespan never gets worse and is at most that of every initial member.
// `bound`: a makespan that cannot be beaten. REQUIRES: at least one host, one task and one initial member.
[[nodiscard]] GeneticResult evolve(const DenseCosts& costs, std::vector<std::vector<Gene>> initial,
                                   const GeneticSettings& settings, double bound,
                                   const std::function<bool()>& stop, Random& random);

// A random chromosome.
[[nodiscard]] std::vector<Gene> shuffled_genes(const DenseCosts& costs, Random& random);

}  // namespace gleaner::policy
