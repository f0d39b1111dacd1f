// PN and its machine: what server/policy/mapping/MAPPING.md says of genetic search, and the other searches.
#include <algorithm>
#include <numeric>

#include "server/policy/mapping/genetic.h"
#include "tests/unit/mapping/instances.h"

using namespace gleaner;
using namespace gleaner::policy;
using namespace gleaner::policy::testing;

namespace {

#ifdef GLEANER_SANITIZED
constexpr int scale = 20;
#else
constexpr int scale = 1;
#endif

bool is_permutation_of_all(std::vector<Gene> genes) {
  std::sort(genes.begin(), genes.end());
  for (std::size_t i = 0; i < genes.size(); ++i) {
    if (genes[i] != static_cast<Gene>(i)) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("a hundred thousand cycle crossovers make valid children whose genes come from a parent") {
  const std::uint64_t seed = 31;
  INFO("seed " << seed);
  Random random(seed);
  std::vector<std::size_t> places;
  const std::vector<std::pair<std::size_t, std::size_t>> sizes{{8, 4}, {60, 15}, {100, 25}};
  for (const auto& [tasks, hosts] : sizes) {
    std::vector<Gene> a(tasks + hosts - 1);
    std::iota(a.begin(), a.end(), 0);
    std::vector<Gene> b = a;
    int invalid = 0;
    int foreign = 0;
    for (int i = 0; i < 100'000 / 3 / scale + 1; ++i) {
      if (i % 50 == 0) {
        swap_random_genes(a, a.size(), random);
        swap_random_genes(b, b.size(), random);
      }
      std::vector<Gene> x = a;
      std::vector<Gene> y = b;
      cycle_crossover(x, y, places, random);
      invalid += is_permutation_of_all(x) && is_permutation_of_all(y) ? 0 : 1;
      for (std::size_t place = 0; place < x.size(); ++place) {
        const bool kept = x[place] == a[place] && y[place] == b[place];
        const bool exchanged = x[place] == b[place] && y[place] == a[place];
        foreign += kept || exchanged ? 0 : 1;
      }
    }
    CHECK(invalid == 0);
    CHECK(foreign == 0);
  }
}

TEST_CASE("rebalancing keeps every task and never raises the makespan") {
  const std::uint64_t seed = 32;
  INFO("seed " << seed);
  Random random(seed);
  int lowered = 0;
  for (int round = 0; round < 300 / scale + 1; ++round) {
    const MappingInput input = random_input(random, 1 + random.below(30), 1 + random.below(8));
    const MappingCosts costs(input, Communication::counted);
    const DenseCosts dense(input, costs);
    std::vector<Gene> genes = shuffled_genes(dense, random);
    std::vector<double> loads;
    std::vector<double> fresh;
    double before = evaluate(dense, genes, loads).makespan;
    for (int i = 0; i < 20; ++i) {
      rebalance(dense, genes, loads, random);
      const double after = evaluate(dense, genes, fresh).makespan;
      CHECK(after <= before * (1 + 1e-12));
      lowered += after < before ? 1 : 0;
      before = after;
      REQUIRE(is_permutation_of_all(genes));
      for (std::size_t host = 0; host < loads.size(); ++host)
        CHECK(loads[host] == Approx(fresh[host]).margin(1e-9));
    }
  }
  CHECK(lowered > 100 / scale);
}

TEST_CASE("PN is never worse than its seeds, exactly") {
  const std::uint64_t seed = 33;
  INFO("seed " << seed);
  Random random(seed);
  for (int round = 0; round < 30 / scale + 1; ++round) {
    const MappingInput input = random_input(random, 40, 6, round % 3 == 0 ? 0.3 : 0);
    double best = std::numeric_limits<double>::infinity();
    for (const char* name : {"mx", "mm", "llx", "llm", "mxc", "mmc", "llxc", "llmc", "ef"}) {
      best = std::min(best, generate(name, input).makespan);
    }
    CHECK(generate("pn", input).makespan <= best);
    CHECK(generate("pn,printed_fitness=true", input).makespan <= best);
    const double earliest_finish = generate("ef", input).makespan;
    CHECK(generate("pn,seeds=ef", input).makespan <= earliest_finish);
    CHECK(generate("ta", input).makespan <= earliest_finish);
    CHECK(generate("sa", input).makespan <= earliest_finish);
  }
}

TEST_CASE("the best makespan never gets worse, whatever the fitness") {
  Random random(34);
  for (const Fitness fitness : {Fitness::makespan, Fitness::printed, Fitness::utilisation}) {
    const MappingInput input = random_input(random, 60, 8);
    const DenseCosts dense(input, MappingCosts(input, Communication::counted));
    GeneticSettings settings;
    settings.fitness = fitness;
    settings.generations = 200 / scale;
    settings.stagnation = 0;
    Random own(1);
    const GeneticResult result =
        evolve(dense, {shuffled_genes(dense, own), shuffled_genes(dense, own)}, settings, 0, {}, own);
    REQUIRE(result.generations == settings.generations);
    for (std::size_t i = 1; i < result.trace.size(); ++i) CHECK(result.trace[i] <= result.trace[i - 1]);
    CHECK(result.trace.back() < result.trace.front());
    std::vector<double> loads;
    CHECK(evaluate(dense, result.best, loads).makespan == result.makespan);
  }
}

TEST_CASE("a search that is stopped gives its best plan within a generation") {
  Random random(35);
  MappingInput input = random_input(random, 50, 8);
  for (const int allowed : {0, 1, 12, 30}) {
    int asked = 0;
    input.stop = [&] { return ++asked > allowed; };
    const Schedule schedule = generate("pn,stagnation=0,generations=100000", input);
    CHECK(asked <= allowed + 10);  // the eight seeds after the first ask too
    CHECK(schedule.steps <= allowed);
    CHECK(verify_schedule(input, schedule, generate("ef", input).makespan).ok());
  }
  for (const char* name : {"zo,stagnation=0", "sa", "ta"}) {
    int asked = 0;
    input.stop = [&] { return ++asked > 5; };
    const Schedule schedule = generate(name, input);
    CHECK(schedule.steps <= 5);
    CHECK(asked <= 6);
    CHECK(verify_schedule(input, schedule, schedule.makespan).ok());
  }
}

TEST_CASE("one host: any order, at once") {
  Random random(36);
  const MappingInput input = random_input(random, 20, 1);
  const Schedule schedule = generate("pn,stagnation=0", input);
  CHECK(schedule.steps == 0);
  CHECK(schedule.queues[0].size() == 20);
}

TEST_CASE("the lower bound stops the search when it is reached") {
  MappingInput input;
  input.computation = Matrix(12, 4, 5);
  input.start = {0, 0, 0, 0};
  const Schedule schedule = generate("pn,stagnation=0,generations=1000000", input);
  CHECK(schedule.makespan == 15);
  CHECK(schedule.steps == 0);
}

TEST_CASE("the lower bound of the golden instance") {
  const MappingInput input = golden_input();
  // Poured like water: 240 MFLOP/s in all, less 5 s of the second, and each task's cheapest transfer
  // times rate (2 s * 30 or 1 s * 60 MFLOP/s = 60 MFLOP): (8700 + 8 * 60 + 5 * 60) / 240 s.
  CHECK(lower_bound(input, MappingCosts(input, Communication::counted)) ==
        Approx((8700 + 480 + 300) / 240.0));
}
