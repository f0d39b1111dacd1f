// PN: the genetic strategy of Page and Naughton, started from the list heuristics, with rebalancing. The
// corrections to the printed algorithm are in chromosome.h and genetic.h; with printed_fitness=true it
// selects by the printed fitness (the best by makespan still lives on).
#include <fmt/format.h>

#include "server/policy/mapping/genetic.h"
#include "server/policy/mapping/heuristics.h"
#include "server/policy/mapping/table.h"

namespace gleaner::policy {
namespace {

enum class Seeds : int { all = 0, earliest_finish = 1, random = 2 };
constexpr const char* seed_names[] = {"all", "ef", "random"};

struct PageSettings {
  GeneticSettings genetic;
  Seeds seeds = Seeds::all;
};

// The best initial members are cheap: a search that is stopped at once still has the first.
std::vector<Schedule> seed_schedules(const MappingInput& input, Seeds seeds) {
  std::vector<Schedule> made{earliest_finish(input)};
  if (seeds == Seeds::earliest_finish) return made;
  using enum Communication;
  const auto more = [&](auto&& schedule) {
    if (!input.stop || !input.stop()) made.push_back(schedule());
  };
  more([&] { return extreme_finish(input, Extreme::most, counted); });
  more([&] { return extreme_finish(input, Extreme::least, counted); });
  more([&] { return extreme_finish(input, Extreme::most, ignored); });
  more([&] { return extreme_finish(input, Extreme::least, ignored); });
  more([&] { return lightest_loaded(input, TaskOrder::largest_first, counted); });
  more([&] { return lightest_loaded(input, TaskOrder::smallest_first, counted); });
  more([&] { return lightest_loaded(input, TaskOrder::largest_first, ignored); });
  more([&] { return lightest_loaded(input, TaskOrder::smallest_first, ignored); });
  return made;
}

class Page final : public MappingStrategy {
 public:
  explicit Page(PageSettings settings) : settings_(settings) {}

  [[nodiscard]] Schedule generate(const MappingInput& input) const override {
    const MappingCosts costs(input, Communication::counted);
    if (costs.tasks().empty()) {
      return finished(input, costs, std::vector<std::vector<std::size_t>>(input.hosts()), "pn");
    }
    const DenseCosts dense(input, costs);
    Random random(input.seed);
    std::vector<std::vector<Gene>> initial;
    if (settings_.seeds == Seeds::random) {
      for (int i = 0; i < settings_.genetic.population; ++i) initial.push_back(shuffled_genes(dense, random));
    } else {
      for (const Schedule& seed : seed_schedules(input, settings_.seeds)) {
        initial.push_back(dense.encode(seed.queues));
      }
    }
    const GeneticResult result =
        evolve(dense, std::move(initial), settings_.genetic, lower_bound(input, costs), input.stop, random);
    Schedule schedule = finished(input, costs, dense.decode(result.best, input, costs), "pn");
    schedule.steps = result.generations;
    schedule.reason += fmt::format(", from {:.6g} s in {} generations; {}", result.trace.front(),
                                   result.generations, result.end);
    return schedule;
  }

  [[nodiscard]] std::string text() const override {
    const GeneticSettings& genetic = settings_.genetic;
    return fmt::format(
        "pn,seeds={},printed_fitness={},population={},generations={},stagnation={},rebalances={},mutation={}",
        seed_names[static_cast<int>(settings_.seeds)], genetic.fitness == Fitness::printed,
        genetic.population, genetic.generations, genetic.stagnation, genetic.rebalances,
        genetic.adaptive ? "adaptive" : "constant");
  }

 private:
  PageSettings settings_;
};

Result<std::unique_ptr<MappingStrategy>> make_page(StrategyOptions& options) {
  PageSettings settings;
  TRY_ASSIGN(const int seeds, options.choice("seeds", {"all", "ef", "random"}, 0));
  settings.seeds = static_cast<Seeds>(seeds);
  TRY_ASSIGN(const int printed, options.choice("printed_fitness", {"false", "true"}, 0));
  if (printed == 1) settings.genetic.fitness = Fitness::printed;
  TRY_ASSIGN(settings.genetic.population, options.whole("population", 2, 1000, 20));
  TRY_ASSIGN(settings.genetic.generations, options.whole("generations", 0, 1'000'000, 1000));
  TRY_ASSIGN(settings.genetic.stagnation, options.whole("stagnation", 0, 1'000'000, 10));
  TRY_ASSIGN(settings.genetic.rebalances, options.whole("rebalances", 0, 50, 1));
  TRY_ASSIGN(const int mutation, options.choice("mutation", {"adaptive", "constant"}, 0));
  settings.genetic.adaptive = mutation == 0;
  return std::unique_ptr<MappingStrategy>(std::make_unique<Page>(settings));
}

}  // namespace

MappingEntry pn_entry() {
  return {{"pn",
           "a genetic search from nine list heuristics, never worse than the best of them",
           "Page and Naughton 2005; Page 2009, algorithm 3.1 (corrected)",
           {"seeds=all|ef|random  start from nine heuristics (default), from ef, or from chance",
            "printed_fitness=true|false  by the difference of loads, as printed (default false)",
            "population=NUMBER  2 to 1000, default 20", "generations=NUMBER  at most, default 1000",
            "stagnation=NUMBER  generations without a gain until it ends, default 10, 0 never",
            "rebalances=NUMBER  of each child, 0 to 50, default 1",
            "mutation=adaptive|constant  more swaps while nothing gets better (default), or always one"}},
          make_page};
}

}  // namespace gleaner::policy
