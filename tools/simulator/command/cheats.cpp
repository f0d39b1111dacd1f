// cheats: what hosts that lie or hoard achieve, as two tables over seeds.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <ostream>
#include <thread>

#include "shared/base/thread_pool.h"
#include "shared/json/text.h"
#include "tools/simulator/command/commands.h"
#include "tools/simulator/command/run.h"
#include "tools/simulator/scenario/scenario.h"
#include "tools/simulator/scenario/statistics.h"

namespace gleaner::simulator {
namespace {

// Strangers, all of them.
constexpr const char* fleet_text = R"(start = "mon 10:00"
[problem]
ideal_hours = {}
item_seconds = 10
[[fleet]]
hosts = {}
own = false
mix = {{ always = 0.3, office = 0.4, lab = 0.3 }}
)";

constexpr const char* policies[] = {"none", "spot:0.05", "quorum:2", "quorum:3", "adaptive"};
constexpr double shares[] = {0.1, 0.3};
constexpr std::uint64_t others = 1'000'000;  // seeds of the fleets that hoarders are from

struct CheatsOptions {
  std::string seeds = "1-20";
  std::vector<std::string> kinds;
  unsigned jobs = 0;
  std::int64_t hosts = 40;
  double hours = 2;
  bool json = false;
};

// One line of a table, run with every seed.
struct Case {
  Cheat cheat = Cheat::none;
  double share = 0;  // of the fleet; of hoarders: beside it
  const char* validation = "";
};

struct Figures {
  bool complete = false;
  std::int64_t items = 0;
  double makespan = 0, waste = 0;
  std::int64_t wrong = 0;
  GridTrust trust;
};

bool lies(Cheat cheat) {
  return std::find(liars().begin(), liars().end(), cheat) != liars().end();
}

Result<Figures> run_case(const Scenario& scenario, const Case& one, std::uint64_t seed) {
  TRY_ASSIGN(GridInstance instance, make_instance(scenario, seed));
  std::vector<GridHost*> cheats;
  const auto count =
      static_cast<std::size_t>(std::llround(one.share * static_cast<double>(instance.hosts.size())));
  if (one.cheat != Cheat::none && !lies(one.cheat)) {
    TRY_ASSIGN(GridInstance more, make_instance(scenario, seed + others));
    const std::size_t honest = instance.hosts.size();
    instance.hosts.insert(instance.hosts.end(), std::make_move_iterator(more.hosts.begin()),
                          std::make_move_iterator(more.hosts.begin() + static_cast<std::ptrdiff_t>(count)));
    for (std::size_t i = honest; i < instance.hosts.size(); ++i) cheats.push_back(&instance.hosts[i]);
  } else {
    for (std::size_t i = 0; i < count; ++i)
      cheats.push_back(&instance.hosts[i * instance.hosts.size() / count]);
  }
  make_cheats(one.cheat, cheats);
  instance.validation = one.validation;
  instance.check_every = 0;
  TRY_ASSIGN(const GridRun run, run_grid(instance));
  return Figures{run.complete, instance.items, run.makespan, run.waste, run.wrong_items, run.trust};
}

std::vector<Case> cases_of(const std::vector<Cheat>& kinds) {
  std::vector<Case> cases;
  const bool lie = std::any_of(kinds.begin(), kinds.end(), lies);
  for (const char* validation : policies)
    if (lie) cases.push_back({Cheat::none, 0, validation});
  for (const double share : shares)
    for (const Cheat kind : kinds)
      for (const char* validation : policies)
        if (lies(kind)) cases.push_back({kind, share, validation});
  const bool hoard = !std::all_of(kinds.begin(), kinds.end(), lies);
  if (hoard) cases.push_back({Cheat::none, 0, ""});
  for (const Cheat kind : kinds)
    if (!lies(kind)) cases.push_back({kind, 1 / 9.0, ""});
  return cases;
}

// What is compared with the same seeds' figures of another case.
struct Row {
  const Case* of = nullptr;
  std::int64_t items = 0, wrong = 0, cut_off = 0;
  GridTrust trust;
  Mean overhead;  // computed beyond what `none` computes, of the useful work
  Mean longer;    // makespan over that without them, less 1
};

Row sum_up(const Case& one, const std::vector<Figures>& figures, const std::vector<Figures>& base) {
  Row row;
  row.of = &one;
  std::vector<double> overheads, longer;
  double detection = 0;
  for (std::size_t i = 0; i < figures.size(); ++i) {
    const Figures& run = figures[i];
    row.items += run.items;
    row.wrong += run.wrong;
    row.cut_off += run.complete ? 0 : 1;
    row.trust.liars += run.trust.liars;
    row.trust.found += run.trust.found;
    row.trust.honest_found += run.trust.honest_found;
    detection += run.trust.detection_seconds * static_cast<double>(run.trust.found);
    overheads.push_back(run.waste - base[i].waste);
    longer.push_back(run.makespan / base[i].makespan - 1);
  }
  if (row.trust.found > 0) row.trust.detection_seconds = detection / static_cast<double>(row.trust.found);
  row.overhead = mean_of(overheads);
  row.longer = mean_of(longer);
  return row;
}

// The case that another one's figures are compared with.
std::size_t base_of(const std::vector<Case>& cases, std::size_t index) {
  const Case& one = cases[index];
  const bool results = one.validation[0] != 0;
  const auto found = std::find_if(cases.begin(), cases.end(), [&](const Case& base) {
    return results ? base.cheat == one.cheat && base.share == one.share &&
                         std::string_view(base.validation) == policies[0]
                   : base.cheat == Cheat::none && base.validation[0] == 0;
  });
  return static_cast<std::size_t>(found - cases.begin());
}

void print(Console& console, const std::vector<Row>& rows) {
  bool heads[2] = {true, true};
  for (const Row& row : rows) {
    const bool results = row.of->validation[0] != 0;
    if (std::exchange(heads[results ? 0 : 1], false)) {
      console.out << (results ? fmt::format("{:<11} {:>5} {:<10} {:>12} {:>16} {:>11} {:>11} {:>7} {:>7}\n",
                                            "liars", "share", "policy", "wrong items", "overhead", "found",
                                            "after (s)", "honest", "cut off")
                              : fmt::format("\n{:<11} {:>5} {:>22} {:>7}\n", "beside them", "share",
                                            "makespan longer by", "cut off"));
    }
    const Case& one = *row.of;
    if (results) {
      console.out << fmt::format(
          "{:<11} {:>4.0f}% {:<10} {:>12.2g} {:>7.2f}% ({:.2f}%) {:>5}/{:<5} {:>11.0f} {:>7} {:>7}\n",
          name_of(one.cheat), 100 * one.share, one.validation,
          static_cast<double>(row.wrong) / static_cast<double>(row.items), 100 * row.overhead.mean,
          100 * row.overhead.half, row.trust.found, row.trust.liars, row.trust.detection_seconds,
          row.trust.honest_found, row.cut_off);
    } else {
      console.out << fmt::format("{:<11} {:>4.0f}% {:>14.2f}% ({:.2f}%) {:>7}\n", name_of(one.cheat),
                                 100 * one.share / (1 + one.share), 100 * row.longer.mean,
                                 100 * row.longer.half, row.cut_off);
    }
  }
}

void print_json(Console& console, const std::vector<Row>& rows) {
  auto document = json::Value::array();
  for (const Row& row : rows) {
    document.push_back(json::Value{{"cheats", name_of(row.of->cheat)},
                                   {"share", row.of->share},
                                   {"validation", row.of->validation},
                                   {"items", row.items},
                                   {"wrong_items", row.wrong},
                                   {"overhead", row.overhead.mean},
                                   {"overhead_half", row.overhead.half},
                                   {"longer", row.longer.mean},
                                   {"longer_half", row.longer.half},
                                   {"liars", row.trust.liars},
                                   {"found", row.trust.found},
                                   {"honest_found", row.trust.honest_found},
                                   {"detection_seconds", row.trust.detection_seconds},
                                   {"cut_off", row.cut_off}});
  }
  console.out << json::write(document, {2}) << '\n';
}

Result<int> compare(Console& console, const CheatsOptions& options) {
  std::vector<Cheat> kinds;
  for (const std::string& name : options.kinds) {
    TRY_ASSIGN(const Cheat kind, cheat_from(name));
    if (kind != Cheat::none) kinds.push_back(kind);
  }
  if (options.kinds.empty()) {
    kinds.assign(liars().begin(), liars().end());
    kinds.insert(kinds.end(), hoarders().begin(), hoarders().end());
  }
  TRY_ASSIGN(const Seeds seeds, parse_seeds(options.seeds));
  TRY_ASSIGN(const Scenario scenario,
             read_scenario(fmt::format(fmt::runtime(fleet_text), options.hours, options.hosts), "strangers"));
  const std::vector<Case> cases = cases_of(kinds);
  const std::size_t per_case = seeds.last - seeds.first + 1, count = per_case * cases.size();
  std::vector<std::optional<Result<Figures>>> results(count);
  const auto progress = progress_on(console, count);
  std::mutex mutex;
  std::size_t ended = 0;
  ThreadPool pool(
      static_cast<int>(options.jobs > 0 ? options.jobs : std::max(1U, std::thread::hardware_concurrency())));
  for (std::size_t i = 0; i < count; ++i)
    pool.submit([&, i] {
      results[i] = run_case(scenario, cases[i / per_case], seeds.first + i % per_case);
      const std::lock_guard lock(mutex);
      ++ended;
      if (progress) progress(ended);
    });
  pool.stop();
  std::vector<std::vector<Figures>> figures(cases.size());
  for (std::size_t i = 0; i < count; ++i) {
    if (!results[i]->ok()) return results[i]->error();
    figures[i / per_case].push_back(**results[i]);
  }
  std::vector<Row> rows;
  for (std::size_t i = 0; i < cases.size(); ++i)
    rows.push_back(sum_up(cases[i], figures[i], figures[base_of(cases, i)]));
  if (options.json) {
    print_json(console, rows);
  } else {
    print(console, rows);
  }
  return 0;
}

}  // namespace

void add_cheats_command(CLI::App& program, Action& chosen) {
  auto* command = program.add_subcommand(
      "cheats", "what hosts that lie or hoard achieve among strangers (server/policy/trust/TRUST.md)");
  const auto options = std::make_shared<CheatsOptions>();
  command
      ->add_option("--kinds", options->kinds,
                   "random, always, sleeper, pair, conspiracy, sybil; hoarder, boaster, crawler; may be "
                   "repeated (default: all)")
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false);
  command->add_option("--seeds", options->seeds, "one seed, or A-B")->capture_default_str();
  command->add_option("--hosts", options->hosts, "honest ones and liars; hoarders come on top")
      ->capture_default_str()
      ->check(CLI::Range(4, 10'000));
  command->add_option("--hours", options->hours, "that the job takes at best")
      ->capture_default_str()
      ->check(CLI::Range(0.05, 1000.0));
  command->add_option("--jobs", options->jobs, "runs at the same time (0: one a core)")
      ->capture_default_str();
  command->add_flag("--json", options->json, "print JSON");
  on_parse(command, chosen, options, compare);
}

}  // namespace gleaner::simulator
