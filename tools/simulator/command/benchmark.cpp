// benchmark: what an event and a host cost on this machine.
#include <fmt/format.h>
#include <sys/resource.h>

#include <ctime>
#include <memory>
#include <ostream>

#include "shared/json/text.h"
#include "tools/papers/paper.h"
#include "tools/simulator/command/commands.h"
#include "tools/simulator/grid.h"
#include "tools/simulator/job.h"
#include "tools/simulator/population.h"

namespace gleaner::simulator {
namespace {

struct BenchmarkOptions {
  std::int64_t hosts = 2000;
  bool world = false;
  int slots = 0;
  double until = 0;
  std::string strategy = "wis";
  double ideal_hours = 1;
  std::int64_t items = 2'000'000;
  bool json = false;
};

struct Speed {
  std::int64_t events = 0;
  double seconds = 0;
  std::int64_t decided = 0;
  [[nodiscard]] double rate() const { return static_cast<double>(events) / seconds; }
};

double processor_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

// A divisible job under the papers' conditions: an event is a result with the request that comes with it.
Result<Speed> paper_speed(const BenchmarkOptions& options, const std::string& strategy) {
  PaperInstance instance;
  instance.items = options.items;
  for (int i = 0; i < 100; ++i) instance.hosts.push_back({1 + 0.09 * i});
  instance.strategy = strategy;
  const double started = processor_seconds();
  TRY_ASSIGN(const PaperRun run, run_paper(instance));
  return Speed{run.requests, processor_seconds() - started, run.requests};
}

// The whole stage with clients, heartbeats and messages.
Result<Speed> grid_speed(const BenchmarkOptions& options) {
  GridInstance instance;
  PopulationSetup population;
  population.hosts = static_cast<int>(options.hosts);
  population.slots = options.slots;
  population.mix = options.world ? Mix{.always = 0.1, .office = 0.15, .home = 0.75, .lab = 0}
                                 : Mix{.always = 0.1, .office = 0.4, .home = 0.2, .lab = 0.3};
  instance.hosts = make_population(population);
  JobSetup job;
  job.ideal_seconds = options.ideal_hours * 3600;
  job.item_seconds = 10;
  TRY(set_job(job, 0, instance));
  instance.sizing = options.strategy;
  instance.request_delay = 2;
  instance.check_every = 0;
  instance.keep_decisions = false;
  if (options.until > 0) instance.give_up_after = options.until;
  const double started = processor_seconds();
  TRY_ASSIGN(const GridRun run, run_grid(instance));
  return Speed{run.events, processor_seconds() - started, run.decided};
}

Result<int> benchmark(Console& console, const BenchmarkOptions& options) {
  json::Value document;
  for (const char* strategy : {"rts", "ss", "fac2,mode=paper", "wis,mode=paper"}) {
    if (!policy::make_sizing(strategy).ok()) continue;
    TRY_ASSIGN(const Speed speed, paper_speed(options, strategy));
    document["paper"].push_back(
        json::Value{{"strategy", strategy}, {"events", speed.events}, {"events_per_second", speed.rate()}});
    if (!options.json)
      console.out << fmt::format("paper loop, {:<16} {:>10} events, {:>12.0f} events/s\n", strategy,
                                 speed.events, speed.rate());
  }
  TRY_ASSIGN(const Speed grid, grid_speed(options));
  document["grid"] = {{"strategy", options.strategy},
                      {"hosts", options.hosts},
                      {"slots", options.slots},
                      {"until", options.until},
                      {"peak_megabytes", peak_megabytes()},
                      {"events", grid.events},
                      {"events_per_second", grid.rate()},
                      {"decided_per_second", static_cast<double>(grid.decided) / grid.seconds}};
  if (options.json) {
    console.out << json::write(document, {2}) << '\n';
  } else {
    console.out << fmt::format(
        "grid loop, {} hosts, {:<5} {:>10} events, {:>12.0f} events/s, {:>12.0f} reports, commits and "
        "requests "
        "decided/s, at most {:.0f} MB\n",
        options.hosts, options.strategy, grid.events, grid.rate(),
        static_cast<double>(grid.decided) / grid.seconds, peak_megabytes());
  }
  return 0;
}

}  // namespace

double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void add_benchmark_command(CLI::App& program, Action& chosen) {
  auto* command = program.add_subcommand("benchmark", "events per second of processor time, on this machine");
  const auto options = std::make_shared<BenchmarkOptions>();
  command->add_option("--hosts", options->hosts, "of the grid")
      ->check(CLI::Range(1, 2'000'000))
      ->capture_default_str();
  command->add_flag("--world", options->world, "the mix of the world scenarios, mostly home computers");
  command->add_option("--slots", options->slots, "of each host (0: as the population has them)")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  command->add_option("--until", options->until, "stop the grid at this virtual second (0: at its end)")
      ->check(CLI::Range(0.0, 1e9))
      ->capture_default_str();
  command->add_option("--strategy", options->strategy, "of the grid")->capture_default_str();
  command->add_option("--ideal-hours", options->ideal_hours, "of the grid's job")
      ->check(CLI::Range(0.01, 1000.0))
      ->capture_default_str();
  command->add_option("--items", options->items, "of the papers' loop")
      ->check(CLI::Range(1000, 100'000'000))
      ->capture_default_str();
  command->add_flag("--json", options->json, "print JSON");
  on_parse(command, chosen, options, benchmark);
}

}  // namespace gleaner::simulator
