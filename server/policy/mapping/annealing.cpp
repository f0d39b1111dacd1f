// SA: simulated annealing over moves and exchanges. The thesis tuned an existing package by hand and gives no
// parameters; these are ours.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "server/policy/mapping/assignment.h"
#include "server/policy/mapping/genetic.h"
#include "server/policy/mapping/heuristics.h"
#include "server/policy/mapping/table.h"

namespace gleaner::policy {
namespace {

constexpr int probes = 50;          // random moves whose spread is the first temperature
constexpr double cooling = 0.95;    // a level
constexpr double coldest = 1e-3;    // of the first temperature
constexpr int patience = 10;        // levels without a gain
constexpr int moves_per_task = 10;  // a level

struct AnnealingSettings {
  bool random_start = false;
  int moves = 0;  // a level; 0: ten a task
};

// One random change, and how to take it back.
class Change {
 public:
  Change(Assignment& assignment, std::size_t tasks, std::size_t hosts, Random& random)
      : assignment_(assignment), a_(random.below(tasks)), b_(random.below(tasks)) {
    exchange_ = random.chance(0.5) && assignment.host(a_) != assignment.host(b_);
    before_ = assignment.host(a_);
    if (exchange_) {
      assignment.exchange(a_, b_);
    } else {
      assignment.move(a_, random.below(hosts));
    }
  }
  void undo() { exchange_ ? assignment_.exchange(a_, b_) : assignment_.move(a_, before_); }

 private:
  Assignment& assignment_;
  std::size_t a_;
  std::size_t b_;
  std::size_t before_ = 0;
  bool exchange_ = false;
};

class Annealing final : public MappingStrategy {
 public:
  explicit Annealing(AnnealingSettings settings) : settings_(settings) {}

  [[nodiscard]] Schedule generate(const MappingInput& input) const override {
    const MappingCosts costs(input, Communication::counted);
    if (costs.tasks().empty()) {
      return finished(input, costs, std::vector<std::vector<std::size_t>>(input.hosts()), "sa");
    }
    const DenseCosts dense(input, costs);
    Random random(input.seed);
    std::int64_t levels = 0;
    const std::vector<Gene> start =
        settings_.random_start ? shuffled_genes(dense, random) : dense.encode(best_heuristic(input).queues);
    const Assignment best = anneal(dense, Assignment(dense, start), input, random, levels);
    std::vector<double> loads;
    std::vector<Gene> genes = best.genes();
    if (evaluate(dense, start, loads).makespan < evaluate(dense, genes, loads).makespan) genes = start;
    Schedule schedule = finished(input, costs, dense.decode(genes, input, costs), "sa");
    schedule.steps = levels;
    schedule.reason += fmt::format(" after {} levels", levels);
    return schedule;
  }
  [[nodiscard]] std::string text() const override {
    return fmt::format("sa,start={},moves={}", settings_.random_start ? "random" : "heuristic",
                       settings_.moves);
  }

 private:
  static Schedule best_heuristic(const MappingInput& input) {
    Schedule best = earliest_finish(input);
    for (const Extreme extreme : {Extreme::most, Extreme::least}) {
      Schedule other = extreme_finish(input, extreme, Communication::counted);
      if (other.makespan < best.makespan) best = std::move(other);
    }
    return best;
  }

  [[nodiscard]] Assignment anneal(const DenseCosts& dense, Assignment current, const MappingInput& input,
                                  Random& random, std::int64_t& levels) const {
    Assignment best = current;
    double best_energy = best.energy();
    double energy = best_energy;
    const double first = spread(dense, current, random);
    const std::int64_t moves =
        settings_.moves > 0 ? settings_.moves : moves_per_task * static_cast<std::int64_t>(dense.tasks());
    int stagnant = 0;
    for (double temperature = first; temperature > coldest * first && stagnant < patience;
         temperature *= cooling) {
      if (input.stop && input.stop()) break;
      ++stagnant;
      ++levels;
      for (std::int64_t i = 0; i < moves; ++i) {
        Change change(current, dense.tasks(), dense.hosts(), random);
        const double changed = current.energy();
        if (changed > energy && !random.chance(std::exp((energy - changed) / temperature))) {
          change.undo();
          continue;
        }
        energy = changed;
        if (energy >= best_energy) continue;
        if (energy < best_energy * (1 - 1e-12)) stagnant = 0;
        best_energy = energy;
        best = current;
      }
    }
    return best;
  }

  // The standard deviation of the energy over random changes; the assignment is given back as it was.
  static double spread(const DenseCosts& dense, Assignment current, Random& random) {
    double sum = 0;
    double squares = 0;
    const double base = current.energy();
    for (int i = 0; i < probes; ++i) {
      Change change(current, dense.tasks(), dense.hosts(), random);
      const double difference = current.energy() - base;
      sum += difference;
      squares += difference * difference;
      change.undo();
    }
    return std::sqrt(std::max(0.0, squares / probes - (sum / probes) * (sum / probes)));
  }

  AnnealingSettings settings_;
};

Result<std::unique_ptr<MappingStrategy>> make_annealing(StrategyOptions& options) {
  AnnealingSettings settings;
  TRY_ASSIGN(const int start, options.choice("start", {"heuristic", "random"}, 0));
  settings.random_start = start == 1;
  TRY_ASSIGN(settings.moves, options.whole("moves", 0, 1'000'000, 0));
  return std::unique_ptr<MappingStrategy>(std::make_unique<Annealing>(settings));
}

}  // namespace

MappingEntry annealing_entry() {
  return {{"sa",
           "simulated annealing from the best of three list heuristics",
           "Kirkpatrick et al. 1983; Page 2009, section 3.3",
           {"start=heuristic|random  of ef, mxc and mmc the best (default), or by chance",
            "moves=NUMBER  at each temperature, default 0: ten a task"}},
          make_annealing};
}

}  // namespace gleaner::policy
