#include "tools/simulator/scenario/experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <mutex>
#include <optional>

#include "shared/base/thread_pool.h"
#include "tools/simulator/fluid.h"

namespace gleaner::simulator {
namespace {

// Checking all invariants costs as much as a decision for every open unit: big fleets are sampled.
constexpr std::int64_t checked_slots_max = 100;
constexpr std::int64_t slots_per_check = 5;

constexpr double samples = 200;  // of a run's slots, for plots

// Of this thread: other processes do not count.
double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

alignas(64) thread_local char running[256] = "";

void set_running(const std::string& text) {
  std::strncpy(running, text.c_str(), sizeof running - 1);
}

std::int64_t slots_of(const GridInstance& instance) {
  std::int64_t slots = 0;
  for (const GridHost& host : instance.hosts) slots += host.slots;
  return slots;
}

}  // namespace

const char* running_text() {
  return running;
}

Result<Outcome> run_once(const Experiment& experiment, std::size_t variant, std::uint64_t seed) {
  const Variant& rules = experiment.variants[variant];
  Scenario scenario = experiment.scenario;
  scenario.strategy = rules.strategy;
  scenario.straggler = rules.straggler;
  set_running(fmt::format("scenario {}, seed {}, strategy {}, straggler {}", scenario.name, seed,
                          rules.strategy, rules.straggler));
  TRY_ASSIGN(GridInstance instance, make_instance(scenario, seed));
  Outcome outcome;
  outcome.variant = variant;
  outcome.seed = seed;
  outcome.hosts = static_cast<std::int64_t>(instance.hosts.size());
  outcome.slots = slots_of(instance);
  double work = 0;  // in mean items of the first problem
  for (const GridProblem* problem : instance.problems()) {
    outcome.items += problem->items;
    work += static_cast<double>(problem->items) * problem->item_seconds / instance.item_seconds;
  }
  instance.check_every = experiment.check_every >= 0          ? experiment.check_every
                         : outcome.slots <= checked_slots_max ? 1
                                                              : slots_per_check * outcome.slots;
  const bool detail = experiment.detail && seed == experiment.first_seed;
  if (detail) instance.sample_seconds = instance.ideal_seconds / samples;
  instance.log = experiment.log;
  instance.keep_decisions = false;
  const double started = processor_seconds();
  TRY_ASSIGN(GridRun run, run_grid(instance));
  outcome.seconds = processor_seconds() - started;
  outcome.complete = run.complete;
  outcome.makespan = run.makespan;
  outcome.ideal = run.ideal;
  outcome.ratio = run.makespan / run.ideal;
  outcome.t95 = run.t95 / run.ideal;
  outcome.speedup = work * instance.item_seconds / run.makespan;
  outcome.efficiency = work / delivered(instance.hosts, run.makespan).work;
  outcome.waste = run.waste;
  outcome.idle_hours = run.idle_seconds / 3600;
  outcome.kilowatt_hours = run.joules / 3.6e6;
  outcome.requests = run.requests;
  outcome.grants = run.grants;
  outcome.splits = run.counts.splits;
  outcome.recovered = run.counts.recovered;
  outcome.copies = run.counts.copies;
  outcome.events = run.events;
  outcome.wrong_items = run.wrong_items;
  for (std::size_t i = 0; i < run.problems.size(); ++i)
    outcome.problems.push_back({instance.problems()[i]->items, run.problems[i].complete,
                                run.problems[i].ended_at, run.problems[i].fair_end});
  if (detail) {
    for (GridHost& host : instance.hosts) host.events.clear();
    outcome.detail = std::make_shared<const Detail>(Detail{std::move(run), std::move(instance.hosts)});
  }
  set_running("");
  return outcome;
}

Result<std::vector<Outcome>> run_experiment(const Experiment& experiment,
                                            const std::function<void(std::size_t)>& done) {
  const std::size_t seeds = experiment.last_seed - experiment.first_seed + 1;
  const std::size_t count = seeds * experiment.variants.size();
  std::vector<std::optional<Result<Outcome>>> results(count);
  std::mutex mutex;
  std::size_t ended = 0;
  ThreadPool pool(static_cast<int>(std::min<std::size_t>(count, std::max(1U, experiment.threads))));
  for (std::size_t i = 0; i < count; ++i)
    pool.submit([&, i] {
      results[i] = run_once(experiment, i / seeds, experiment.first_seed + i % seeds);
      const std::lock_guard lock(mutex);
      ++ended;
      if (done) done(ended);
    });
  pool.stop();
  std::vector<Outcome> outcomes;
  outcomes.reserve(count);
  for (const auto& result : results) {
    if (!result->ok()) return result->error();
    outcomes.push_back(**result);
  }
  return outcomes;
}

}  // namespace gleaner::simulator
