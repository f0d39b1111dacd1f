// run: a scenario under some strategies and seeds.
#include "tools/simulator/command/run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <ostream>
#include <sstream>
#include <thread>

#include "server/policy/strategies.h"
#include "shared/terminal/print.h"
#include "tools/simulator/command/commands.h"
#include "tools/simulator/command/plots.h"

namespace gleaner::simulator {
namespace {

struct RunOptions {
  std::string file;
  std::vector<std::string> strategies, stragglers, sets;
  std::string seeds = "1";
  std::string csv, hosts, plots, log;
  unsigned jobs = 0;
  std::int64_t check_every = -1;
  bool json = false;
};

// An invariant that does not hold aborts: say in which run, and end with 1 as any failure.
void broken(int) {
  const auto say = [](const char* text) {
    if (write(STDERR_FILENO, text, std::strlen(text)) < 0) _exit(1);
  };
  say("gleaner-sim: an invariant did not hold in ");
  say(running_text()[0] != 0 ? running_text() : "no run");
  say("\n");
  _exit(1);
}

Result<std::string> contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf()))
    return Error{ErrorKind::io, fmt::format("cannot read {}: {}", path, std::strerror(errno))};
  return text.str();
}

Status check_variants(const std::vector<Variant>& variants) {
  for (const Variant& variant : variants) {
    TRY(policy::strategy_kind(variant.strategy));
    TRY_ASSIGN(const auto rule, policy::straggler_from(variant.straggler));
    static_cast<void>(rule);
  }
  return {};
}

Error cannot_write(const std::string& path) {
  return {ErrorKind::io, fmt::format("cannot write {}: {}", path, std::strerror(errno))};
}

Status write_text(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) return cannot_write(path);
  return {};
}

// Of each strategy's first seed.
Status write_details(const RunOptions& options, const Experiment& experiment,
                     const std::vector<Outcome>& outcomes) {
  if (!experiment.detail) return {};
  std::string table;
  for (const Outcome& outcome : outcomes) {
    if (!outcome.detail) continue;
    const Variant& variant = experiment.variants[outcome.variant];
    const std::string title = fmt::format("{}, {}, {}, seed {}", experiment.scenario.name, variant.strategy,
                                          variant.straggler, outcome.seed);
    if (!options.hosts.empty()) table += fmt::format("# {}\n{}", title, hosts_csv(*outcome.detail));
    if (options.plots.empty()) continue;
    std::error_code ignored;
    std::filesystem::create_directories(options.plots, ignored);
    TRY(write_plots(*outcome.detail, options.plots, fmt::format("run{}", outcome.variant + 1), title));
  }
  return options.hosts.empty() ? Status() : write_text(options.hosts, table);
}

Result<int> run(Console& console, const RunOptions& options) {
  TRY_ASSIGN(const std::string text, contents(options.file));
  std::vector<Override> overrides;
  for (const std::string& set : options.sets) {
    const auto equals = set.find('=');
    if (equals == std::string::npos || equals == 0)
      return Error{ErrorKind::invalid, fmt::format("--set: expected key=value, got {}", set)};
    overrides.push_back({set.substr(0, equals), set.substr(equals + 1)});
  }
  TRY_ASSIGN(Scenario scenario, read_scenario(text, options.file, overrides, [&](const std::string& name) {
               return contents((std::filesystem::path(options.file).parent_path() / name).string());
             }));
  if (scenario.name.empty()) scenario.name = std::filesystem::path(options.file).stem().string();
  if (scenario.relays.given) {
    if (!options.strategies.empty() || !options.stragglers.empty() || !options.csv.empty() ||
        !options.hosts.empty() || !options.plots.empty() || !options.log.empty())
      return Error{ErrorKind::invalid,
                   "a scenario with relays takes --seeds, --set, --jobs, --check-every and --json only"};
    TRY_ASSIGN(const Seeds seeds, parse_seeds(options.seeds));
    const unsigned threads =
        options.jobs > 0 ? options.jobs : std::max(1U, std::thread::hardware_concurrency());
    return run_relays(console, scenario, seeds, static_cast<int>(threads), options.check_every, options.json);
  }
  Experiment experiment{scenario, {}, 1, 1, 1, options.check_every, false, {}};
  experiment.detail = !options.plots.empty() || !options.hosts.empty();
  TRY_ASSIGN(const Seeds seeds, parse_seeds(options.seeds));
  experiment.first_seed = seeds.first;
  experiment.last_seed = seeds.last;
  const auto strategies =
      options.strategies.empty() ? std::vector<std::string>{scenario.strategy} : options.strategies;
  const auto stragglers =
      options.stragglers.empty() ? std::vector<std::string>{scenario.straggler} : options.stragglers;
  for (const std::string& strategy : strategies) {
    for (const std::string& straggler : stragglers) experiment.variants.push_back({strategy, straggler});
  }
  TRY(check_variants(experiment.variants));
  experiment.threads = options.jobs > 0 ? options.jobs : std::max(1U, std::thread::hardware_concurrency());
  const std::size_t count = experiment.variants.size() * (experiment.last_seed - experiment.first_seed + 1);
  std::ofstream log;
  if (!options.log.empty()) {
    if (count != 1) return Error{ErrorKind::invalid, "--log: name one strategy and one seed"};
    log.open(options.log, std::ios::binary);
    if (!log) return cannot_write(options.log);
    experiment.log = [&log](const std::string& line) { log << line << '\n'; };
  }
  const auto before = std::signal(SIGABRT, broken);
  auto ended = run_experiment(experiment, progress_on(console, count));
  std::signal(SIGABRT, before);
  TRY_ASSIGN(const std::vector<Outcome> outcomes, std::move(ended));
  if (log.is_open() && !log.flush()) return cannot_write(options.log);
  if (!options.csv.empty()) TRY(write_text(options.csv, csv_of(experiment, outcomes)));
  TRY(write_details(options, experiment, outcomes));
  if (options.json) {
    print_json(console.out, experiment, outcomes);
  } else {
    print_table(console.out, experiment, outcomes);
  }
  return 0;
}

}  // namespace

Result<Seeds> parse_seeds(const std::string& text) {
  const auto dash = text.find('-');
  char* end = nullptr;
  const auto number = [&end](const std::string& digits) -> std::uint64_t {
    if (digits.empty() || digits.find_first_not_of("0123456789") != std::string::npos || digits.size() > 15)
      return 0;
    return std::strtoull(digits.c_str(), &end, 10);
  };
  Seeds seeds;
  seeds.first = number(text.substr(0, dash));
  seeds.last = dash == std::string::npos ? seeds.first : number(text.substr(dash + 1));
  if (seeds.first == 0 || seeds.last < seeds.first || seeds.last - seeds.first >= 100'000) {
    return Error{ErrorKind::invalid,
                 fmt::format("--seeds: expected a number from 1 on, or two as in 201-220, got {}", text)};
  }
  return seeds;
}

std::function<void(std::size_t)> progress_on(Console& console, std::size_t count) {
  if (!console.error_is_terminal || count < 2) return {};
  return [&console, count](std::size_t done) {
    constexpr std::size_t width = 40;
    const std::size_t filled = width * done / count;
    console.error << terminal::Control{"\r"}
                  << fmt::format("[{}{}] {} of {} runs", std::string(filled, '#'),
                                 std::string(width - filled, '.'), done, count)
                  << terminal::Control{done == count ? "\r\033[K" : ""} << std::flush;
  };
}

void add_run_command(CLI::App& program, Action& chosen) {
  auto* command = program.add_subcommand("run", "runs a scenario (TOML; see tools/simulator/SCENARIO.md)");
  const auto options = std::make_shared<RunOptions>();
  command->add_option("scenario", options->file, "the scenario file")->required();
  command->add_option("--strategy", options->strategies, "instead of the file's; may be repeated")
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false);
  command->add_option("--straggler", options->stragglers, "instead of the file's; may be repeated")
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false);
  command->add_option("--seeds", options->seeds, "one seed, or A-B")->capture_default_str();
  command->add_option("--set", options->sets, "key=value: replaces a key of the file; may be repeated")
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false);
  command->add_option("--csv", options->csv, "write every run to this file");
  command->add_option("--hosts", options->hosts,
                      "write a table of the hosts of each strategy's first run (CSV)");
  command->add_option("--plots", options->plots,
                      "write plots of each strategy's first run into this directory");
  command->add_option("--log", options->log, "write the decision log, for gleaner-sim replay");
  command->add_option("--jobs", options->jobs, "runs at the same time (0: one a core)")
      ->capture_default_str();
  command->add_option("--check-every", options->check_every,
                      "messages between two checks of all invariants (0: never; -1: by the fleet's size)");
  command->add_flag("--json", options->json, "print JSON");
  on_parse(command, chosen, options, run);
}

}  // namespace gleaner::simulator
