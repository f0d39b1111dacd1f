#include "tools/papers/mapped_scenarios.h"

#include <algorithm>
#include <cmath>

#include "shared/base/random.h"

namespace gleaner::simulator {
namespace {

constexpr double reference_rate = 110;  // MFLOP/s: about the mean of the thesis' section 4.3
constexpr int stages = 4;

double poisson(double mean, Random& random) {
  double count = 0;
  for (double time = random.exponential(1); time < mean; time += random.exponential(1)) ++count;
  return count;
}

double size_of(Sizes sizes, Random& random) {
  switch (sizes) {
    case Sizes::normal_1000:
      for (;;) {
        const double work = random.normal(1000, std::sqrt(9e5));
        if (work >= 1) return work;
      }
    case Sizes::uniform_10_10000:
      return 10 + 9990 * random.uniform();
    case Sizes::uniform_10_100:
      return 10 + 90 * random.uniform();
    case Sizes::poisson_10:
      return std::max(1.0, poisson(10, random));
    case Sizes::poisson_100:
      return std::max(1.0, poisson(100, random));
  }
  return 1;
}

void add_problems(MappedGrid& grid, Random& random) {
  const auto& problems = thesis_problems();
  for (std::size_t problem = 0; problem < problems.size(); ++problem) {
    const bool staged = problem == 0 || problem + 1 == problems.size();
    const int tasks = problems[problem].tasks / 4;
    for (int i = 0; i < tasks; ++i) {
      const double work =
          problems[problem].computation * reference_rate * std::exp(0.3 * random.normal(0, 1));
      grid.tasks.push_back({static_cast<int>(problem), staged ? i * stages / tasks : 0, work,
                            problems[problem].communication});
    }
  }
  for (std::size_t i = grid.tasks.size() - 1; i > 0; --i) {
    std::swap(grid.tasks[i], grid.tasks[random.below(i + 1)]);
  }
  grid.communication_spread = 0.2;
  grid.estimate_deviation = 0.5;
}

}  // namespace

MappedGrid batch_grid(Sizes sizes, double ratio, std::uint64_t seed) {
  Random random(seed);
  MappedGrid grid;
  grid.seed = seed;
  grid.poll = 0;
  grid.remap = false;
  grid.communication_spread = 0.2;
  double rate = 0;
  for (int i = 0; i < 50; ++i) {
    grid.hosts.push_back({30 + 120 * random.uniform()});
    grid.hosts.back().link = std::max(0.0, random.normal(1, 0.5));
    rate += grid.hosts.back().rate / 50;
  }
  double work = 0;
  for (int i = 0; i < 1000; ++i) {
    grid.tasks.push_back({0, 0, size_of(sizes, random), 0});
    work += grid.tasks.back().work / 1000;
  }
  for (MappedTask& task : grid.tasks) task.communication = ratio * work / rate;
  return grid;
}

const std::vector<PublishedProblem>& thesis_problems() {
  static const std::vector<PublishedProblem> problems{
      {"SLTT", 12.4, 519.81, 41.92, 143},    {"DSEARCH", 14.0, 731.99, 52.05, 612},
      {"MD5", 14.4, 235.52, 16.36, 800},     {"SHA1", 64.5, 543.02, 8.42, 900},
      {"ElGamal", 29.2, 419.96, 14.34, 406}, {"TSP", 9.5, 353.72, 37.04, 121}};
  return problems;
}

MappedGrid staged_grid(std::uint64_t seed) {
  return staged_grid(45, 45, seed);
}

MappedGrid staged_grid(int slow, int fast, std::uint64_t seed) {
  Random random(seed);
  MappedGrid grid;
  grid.seed = seed;
  for (int i = 0; i < slow; ++i) grid.hosts.push_back({28 + 3 * random.uniform()});
  for (int i = 0; i < fast; ++i) grid.hosts.push_back({180 + 20 * random.uniform()});
  add_problems(grid, random);
  return grid;
}

MappedGrid even_grid(double low, double high, std::uint64_t seed) {
  Random random(seed);
  MappedGrid grid;
  grid.seed = seed;
  for (int i = 0; i < 90; ++i) grid.hosts.push_back({low + (high - low) * random.uniform()});
  add_problems(grid, random);
  return grid;
}

}  // namespace gleaner::simulator
