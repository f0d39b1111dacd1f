#include "tools/papers/reproduction/wis_machines.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "shared/base/check.h"
#include "shared/base/random.h"
#include "tools/papers/reproduction/wis_published.h"

namespace gleaner::simulator {
namespace {

constexpr std::array<double, 20> speeds{1,   1,   1,   1,   .70, .65, .60, .55, .35, .30,
                                        .28, .25, .18, .16, .15, .14, .12, .11, .10, .10};
constexpr int lines = 640;

// A hump over a floor: cost of line i = share * gaussian(centre, width) + (1 - share) / lines.
struct Scene {
  double seconds, centre, width, share;
};
constexpr std::array<Scene, 4> scenes{
    {{63, .312, .0783, .819}, {122, .702, .128, .746}, {152, .638, .0844, .495}, {244, .544, .124, .476}}};

std::vector<double> costs_of(int number, std::uint64_t seed) {
  const Scene& scene = scenes[static_cast<std::size_t>(number)];
  std::vector<double> hump(lines);
  for (int i = 0; i < lines; ++i) {
    const double x = ((i + 0.5) / lines - scene.centre) / scene.width;
    hump[static_cast<std::size_t>(i)] = std::exp(-x * x / 2);
  }
  const double sum = std::accumulate(hump.begin(), hump.end(), 0.0);
  Random random(seed * 31 + static_cast<std::uint64_t>(number));
  std::vector<double> costs;
  for (const double height : hump) {
    const double smooth = scene.share * height / sum + (1 - scene.share) / lines;
    costs.push_back(smooth * (0.925 + 0.15 * random.uniform()));
  }
  const double total = std::accumulate(costs.begin(), costs.end(), 0.0);
  for (double& cost : costs) cost *= scene.seconds / total;
  return costs;
}

std::vector<double> benchmarks_of(std::uint64_t seed, double deviation) {
  Random random(seed);
  std::vector<double> benchmarks;
  for (const double speed : speeds) benchmarks.push_back(speed * std::exp(random.normal(0, deviation)));
  return benchmarks;
}

}  // namespace

WisSettings undisturbed() {
  WisSettings settings;
  settings.load_seeds = {1};
  settings.foreign_load = settings.benchmark_errors = false;
  return settings;
}

double wis_scene_seconds(int scene) {
  return scenes[static_cast<std::size_t>(scene)].seconds;
}

PaperInstance wis_instance(const std::string& strategy, int machines, int scene, std::uint64_t load_seed,
                           std::uint64_t machine_seed, const WisSettings& settings) {
  CHECK_TRUE(machines >= 1 && machines <= 20 && scene >= 0 && scene < 4);
  PaperInstance instance;
  instance.items = lines;
  instance.costs = costs_of(scene, machine_seed);
  const std::vector<double> benchmarks = benchmarks_of(machine_seed, settings.benchmark_errors ? 0.196 : 0);
  for (std::size_t i = 0; i < static_cast<std::size_t>(machines); ++i) {
    PaperHost host;
    host.speed = speeds[i];
    host.performance = benchmarks[i];
    instance.hosts.push_back(host);
  }
  instance.slowest_registered = *std::min_element(benchmarks.begin(), benchmarks.end());
  instance.strategy = strategy + ",mode=paper";
  instance.duplicate = instance.omit = strategy != "static" && strategy != "rts";
  MachineModel model;
  model.first_request = 2.407;
  model.service = 0.002858 * (1 + 0.03109 * machines);
  model.service_per_item = 0.001529;
  model.latency = 0.0746;
  model.request_cost = 0.000511 * wis_scene_seconds(scene);
  model.busy_share = settings.foreign_load ? 0.1607 : 0;
  model.busy_seconds = 20;
  model.seed = load_seed;
  instance.model = model;
  return instance;
}

Result<WisExperiment> run_wis_experiment(const WisSettings& settings,
                                         const std::function<void(double)>& progress) {
  WisExperiment experiment;
  const auto runs = static_cast<double>(settings.load_seeds.size() * settings.machine_seeds.size());
  const auto add = [&](std::size_t s, std::size_t m, std::size_t scene, std::uint64_t load,
                       std::uint64_t machine) -> Status {
    const int number = static_cast<int>(scene);
    TRY_ASSIGN(const PaperRun run,
               run_paper(wis_instance(wis_published::strategies[s], wis_published::machines[m], number, load,
                                      machine, settings)));
    CHECK_TRUE(run.complete);
    experiment.speedup[s][m][scene] += wis_scene_seconds(number) / run.makespan / runs;
    experiment.requests[s][m][scene] += static_cast<double>(run.requests) / runs;
    experiment.idle[s][m][scene] += run.idle_seconds / runs;
    return {};
  };
  for (std::size_t s = 0; s < 4; ++s) {
    for (std::size_t m = 0; m < 5; ++m) {
      for (std::size_t scene = 0; scene < 4; ++scene) {
        for (const std::uint64_t load : settings.load_seeds) {
          for (const std::uint64_t machine : settings.machine_seeds) TRY(add(s, m, scene, load, machine));
        }
      }
    }
    progress(static_cast<double>(s + 1) / 4);
  }
  return experiment;
}

}  // namespace gleaner::simulator
