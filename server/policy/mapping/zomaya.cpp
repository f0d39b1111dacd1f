// ZO: the genetic strategy of Zomaya and Teh: a random start, no rebalancing, communication not looked at.
#include <fmt/format.h>

#include <cmath>

#include "server/policy/mapping/genetic.h"
#include "server/policy/mapping/table.h"

namespace gleaner::policy {
namespace {

struct ZomayaSettings {
  bool homogeneous = false;
  GeneticSettings genetic{Fitness::utilisation, 20, 1000, 10, 0, true};
};

// Every host as fast as the mean of all.
MappingInput with_mean_rate(MappingInput input) {
  const std::vector<double> rates = rates_of(input);
  double mean = 0;
  for (const double rate : rates) mean += rate / static_cast<double>(rates.size());
  for (std::size_t task = 0; task < input.tasks(); ++task) {
    for (std::size_t host = 0; host < input.hosts(); ++host) {
      input.computation(task, host) *= rates[host] / mean;
    }
  }
  return input;
}

class Zomaya final : public MappingStrategy {
 public:
  explicit Zomaya(ZomayaSettings settings) : settings_(settings) {}

  [[nodiscard]] Schedule generate(const MappingInput& input) const override {
    const MappingInput seen = settings_.homogeneous ? with_mean_rate(input) : input;
    const MappingCosts costs(seen, Communication::ignored);
    if (costs.tasks().empty()) {
      return finished(input, costs, std::vector<std::vector<std::size_t>>(input.hosts()), "zo");
    }
    const DenseCosts dense(seen, costs);
    Random random(input.seed);
    std::vector<std::vector<Gene>> initial;
    for (int i = 0; i < settings_.genetic.population; ++i) initial.push_back(shuffled_genes(dense, random));
    const GeneticResult result =
        evolve(dense, std::move(initial), settings_.genetic, lower_bound(seen, costs), input.stop, random);
    Schedule schedule = finished(input, costs, dense.decode(result.best, seen, costs), "zo");
    schedule.steps = result.generations;
    schedule.reason += fmt::format(", {} generations; {}", result.generations, result.end);
    return schedule;
  }

  [[nodiscard]] std::string text() const override {
    return fmt::format("zo,homogeneous={},population={},generations={},stagnation={}", settings_.homogeneous,
                       settings_.genetic.population, settings_.genetic.generations,
                       settings_.genetic.stagnation);
  }

 private:
  ZomayaSettings settings_;
};

Result<std::unique_ptr<MappingStrategy>> make_zomaya(StrategyOptions& options) {
  ZomayaSettings settings;
  TRY_ASSIGN(const int homogeneous, options.choice("homogeneous", {"false", "true"}, 0));
  settings.homogeneous = homogeneous == 1;
  TRY_ASSIGN(settings.genetic.population, options.whole("population", 2, 1000, 20));
  TRY_ASSIGN(settings.genetic.generations, options.whole("generations", 0, 1'000'000, 1000));
  TRY_ASSIGN(settings.genetic.stagnation, options.whole("stagnation", 0, 1'000'000, 10));
  return std::unique_ptr<MappingStrategy>(std::make_unique<Zomaya>(settings));
}

}  // namespace

MappingEntry zo_entry() {
  return {{"zo",
           "a genetic search from a random start that does not see communication",
           "Zomaya and Teh 2001, as in Page 2009, section 3.3",
           {"homogeneous=true|false  take all hosts for equally fast (default false)",
            "population=NUMBER  2 to 1000, default 20", "generations=NUMBER  at most, default 1000",
            "stagnation=NUMBER  generations without a gain until it ends, default 10, 0 never"}},
          make_zomaya};
}

}  // namespace gleaner::policy
