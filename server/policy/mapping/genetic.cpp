#include "server/policy/mapping/genetic.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "shared/base/check.h"

namespace gleaner::policy {
namespace {

constexpr double copy_swaps = 0.05;   // of the genes of an initial copy
constexpr int mutation_patience = 4;  // stagnant generations until mutation grows
constexpr double mutation_growth = 1.5;
constexpr double mutation_most = 5;  // times the start

struct Individual {
  std::vector<Gene> genes;
  double makespan = 0;
  double fitness = 0;
};

class Machine {
 public:
  Machine(const DenseCosts& costs, const GeneticSettings& settings, Random& random)
      : costs_(costs), settings_(settings), random_(random) {}

  void start(std::vector<std::vector<Gene>> initial) {
    const auto size = static_cast<std::size_t>(settings_.population);
    const std::size_t given = initial.size();
    for (std::size_t i = 0; i < std::max(size, given); ++i) {
      Individual made{i < given ? std::move(initial[i]) : population_[i % given].genes, 0, 0};
      if (i >= given) {
        const double swaps = std::ceil(copy_swaps * static_cast<double>(made.genes.size()));
        swap_random_genes(made.genes, static_cast<std::size_t>(swaps), random_);
      }
      judge(made);
      population_.push_back(std::move(made));
    }
    best_ = *std::min_element(population_.begin(), population_.end(), shorter);
    population_.resize(size);
  }

  // True: the best makespan got better.
  bool generation() {
    breed();
    select();
    const Individual& fittest = *std::min_element(pool_.begin(), pool_.end(), shorter);
    const bool better = fittest.makespan < best_.makespan;
    if (better) best_ = fittest;
    population_[0] = best_;
    adapt(better);
    return better;
  }

  [[nodiscard]] const Individual& best() const { return best_; }

 private:
  static bool shorter(const Individual& a, const Individual& b) { return a.makespan < b.makespan; }

  void judge(Individual& one) {
    const Load load = evaluate(costs_, one.genes, loads_);
    one.makespan = load.makespan;
    double badness = 1 + load.makespan - load.least;
    if (settings_.fitness == Fitness::makespan) {
      badness = load.makespan + 0.001 * (load.makespan - load.mean);
    } else if (settings_.fitness == Fitness::utilisation) {
      badness = load.makespan * load.makespan / load.mean;
    }
    one.fitness = 1 / std::max(badness, 1e-300);
    if (!std::isfinite(one.fitness)) one.fitness = 1;  // everything is done in no time
  }

  // pool_: the parents, then their children.
  void breed() {
    std::vector<std::size_t> order(population_.size());
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t i = order.size() - 1; i > 0; --i) std::swap(order[i], order[random_.below(i + 1)]);
    pool_ = population_;
    for (const std::size_t parent : order) pool_.push_back(population_[parent]);
    const std::size_t children = population_.size();
    for (std::size_t i = children; i + 1 < pool_.size(); i += 2) {
      cycle_crossover(pool_[i].genes, pool_[i + 1].genes, places_, random_);
    }
    for (std::size_t i = children; i < pool_.size(); ++i) {
      Individual& child = pool_[i];
      auto swaps = static_cast<std::size_t>(swaps_);
      if (random_.chance(swaps_ - std::floor(swaps_))) ++swaps;
      swap_random_genes(child.genes, swaps, random_);
      judge(child);
      if (settings_.rebalances > 0) improve(child);
    }
  }

  void improve(Individual& child) {
    const Individual before = child;
    for (int i = 0; i < settings_.rebalances; ++i) rebalance(costs_, child.genes, loads_, random_);
    judge(child);
    if (child.makespan > before.makespan) child = before;
  }

  void select() {
    double sum = 0;
    cumulated_.clear();
    for (const Individual& one : pool_) cumulated_.push_back(sum += one.fitness);
    for (Individual& slot : population_) {
      const auto found = std::upper_bound(cumulated_.begin(), cumulated_.end(), random_.uniform() * sum) -
                         cumulated_.begin();
      slot = pool_[std::min(static_cast<std::size_t>(found), pool_.size() - 1)];
    }
  }

  void adapt(bool better) {
    if (!settings_.adaptive) return;
    stagnant_ = better ? 0 : stagnant_ + 1;
    if (better) swaps_ = std::max(1.0, swaps_ / mutation_growth);
    if (stagnant_ > 0 && stagnant_ % mutation_patience == 0) {
      swaps_ = std::min(mutation_most, swaps_ * mutation_growth);
    }
  }

  const DenseCosts& costs_;
  const GeneticSettings& settings_;
  Random& random_;
  std::vector<Individual> population_;
  std::vector<Individual> pool_;
  Individual best_;
  double swaps_ = 1;  // of each child
  int stagnant_ = 0;
  std::vector<double> loads_;
  std::vector<double> cumulated_;
  std::vector<std::size_t> places_;
};

}  // namespace

GeneticResult evolve(const DenseCosts& costs, std::vector<std::vector<Gene>> initial,
                     const GeneticSettings& settings, double bound, const std::function<bool()>& stop,
                     Random& random) {
  CHECK_TRUE(!initial.empty() && costs.hosts() > 0 && costs.tasks() > 0 && settings.population >= 2);
  Machine machine(costs, settings, random);
  machine.start(std::move(initial));
  GeneticResult result;
  result.trace.push_back(machine.best().makespan);
  result.end = "the generations were used up";
  int stagnant = 0;
  while (result.generations < settings.generations) {
    if (machine.best().makespan <= bound * (1 + 1e-12)) {
      result.end = "the lower bound was reached";
      break;
    }
    if (costs.hosts() == 1) {
      result.end = "there is one host";
      break;
    }
    if (settings.stagnation > 0 && stagnant >= settings.stagnation) {
      result.end = "nothing got better any more";
      break;
    }
    if (stop && stop()) {
      result.end = "it was stopped";
      break;
    }
    stagnant = machine.generation() ? 0 : stagnant + 1;
    ++result.generations;
    result.trace.push_back(machine.best().makespan);
  }
  result.best = machine.best().genes;
  result.makespan = machine.best().makespan;
  return result;
}

std::vector<Gene> shuffled_genes(const DenseCosts& costs, Random& random) {
  std::vector<Gene> genes(costs.tasks() + costs.hosts() - 1);
  std::iota(genes.begin(), genes.end(), 0);
  for (std::size_t i = genes.size() - 1; i > 0; --i) std::swap(genes[i], genes[random.below(i + 1)]);
  return genes;
}

}  // namespace gleaner::policy
