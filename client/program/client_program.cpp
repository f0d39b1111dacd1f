#include "client/program/client_program.h"

#include <spdlog/sinks/ringbuffer_sink.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>

#include "client/benchmark/benchmark.h"
#include "client/platform/machine_facts.h"
#include "client/platform/owner.h"
#include "client/platform/state_lock.h"
#include "client/program/attack_program.h"
#include "client/program/daemon.h"
#include "client/program/exit_status.h"
#include "client/program/join_program.h"
#include "client/program/preferences_program.h"
#include "client/program/version.h"
#include "shared/base/figures.h"
#include "shared/base/paths.h"
#include "shared/io/private_files.h"
#include "shared/logging/log.h"
#include "shared/terminal/print.h"
#include "shared/usage/help.h"
#include "shared/usage/usage.h"

namespace gleaner::program {
namespace {

constexpr std::size_t log_lines_kept = 200;
constexpr std::size_t log_line_bytes_max = 1000;

struct Options {
  std::string state;
  std::string log_level = "info";
  std::string code;
  std::string project;
  bool all_projects = false;
  std::string name;
  std::string cpu_share;
  std::string run;
  std::string priority = "idle";
  std::string sandbox;
  bool attack = false;
  bool json = false;
  double mflops = 0;
  int cores = 0;
};

using LogMemory = spdlog::sinks::ringbuffer_sink_mt;

// On standard error; and the last messages in memory, for `gleaner log`.
std::shared_ptr<LogMemory> set_up_log(const std::string& level) {
  auto memory = std::make_shared<LogMemory>(log_lines_kept);
  logging::set_up({.name = "gleaner-client",
                   .level = level,
                   .pattern = "%Y-%m-%d %H:%M:%S.%e %^%l%$ %v",
                   .others = {memory},
                   .others_pattern = "%Y-%m-%d %H:%M:%S %l: %v"});
  return memory;
}

std::vector<std::string> lines_in(LogMemory& memory) {
  std::vector<std::string> lines = memory.last_formatted();
  for (std::string& line : lines) {
    while (!line.empty() && line.back() == '\n') line.pop_back();
    line.resize(std::min(line.size(), log_line_bytes_max));
  }
  return lines;
}

int fail(const Error& error) {
  terminal::print(stderr, "gleaner-client: {}\n", error.message);
  return exit_problem;
}

// "50%" or "0.5"; nothing if it is neither, or not in (0, 1].
std::optional<double> parse_share(const std::string& text) {
  char* end = nullptr;
  double value = std::strtod(text.c_str(), &end);
  if (end == text.c_str()) return std::nullopt;
  if (*end == '%') {
    value /= 100;
    ++end;
  }
  if (*end != '\0' || !(value > 0) || value > 1) return std::nullopt;
  return value;
}

std::string check_share(const std::string& text) {
  return parse_share(text) ? "" : "a share is like 50% or 0.5, over 0 and at most 100%";
}

// Kernels work elsewhere: every path they are told is absolute.
state::StateDirectory state_of(const Options& options) {
  return {std::filesystem::absolute(options.state.empty() ? platform::default_state_directory()
                                                          : utf8_path(options.state))
              .lexically_normal()};
}

int do_benchmark() {
  const auto result = benchmark::run_linpack();
  if (!result.ok()) return fail(result.error());
  const int cores = platform::make_machine()->cores();
  const auto together = benchmark::run_linpack_on_all(cores);
  if (!together.ok()) return fail(together.error());
  terminal::print(
      "one core   {} Mflop/s (Linpack 500, double precision; residual {:.2f})\n"
      "all {:<6} {} Mflop/s at once\n"
      "memory     {}/s (triad, one core)\n",
      count_text(std::llround(result->mflops)), result->residual, cores, count_text(std::llround(*together)),
      bytes_text(std::llround(benchmark::run_triad())));
  return exit_ok;
}

int do_run(const Options& options, const std::shared_ptr<LogMemory>& memory) {
  if (const Status owner = platform::check_owner(state_of(options).root); !owner.ok())
    return fail(owner.error());
  RunOptions run;
  run.recent_log = [memory] { return lines_in(*memory); };
  run.state = state_of(options);
  run.cores = options.cores;
  run.cpu_share = parse_share(options.cpu_share);
  if (!options.run.empty()) run.run = options.run;
  if (options.mflops > 0) run.benchmark_mflops = options.mflops;
  if (!options.sandbox.empty()) run.sandbox = options.sandbox;
  run.priority = options.priority == "normal" ? platform::Priority::normal : platform::Priority::idle;
  return run_daemon(run);
}

int do_sandbox(const Options& options) {
  AttackCommand command;
  platform::SandboxSettings& settings = command.sandbox;
  settings.state_root = state_of(options).root;
  if (const Status made = io::real_files().make_directories(settings.state_root); !made.ok())
    return fail(made.error());
  const auto book = settings::PreferenceBook::load(io::real_files(), preference_files(state_of(options)));
  if (!book.ok()) return fail(book.error());
  const std::string words = options.sandbox.empty() ? book->values().sandbox : options.sandbox;
  // As in the daemon: as the superuser kernels run as users of their own.
  if (::geteuid() == 0) io::make_readable_files();
  settings.accept_weak = words == platform::sandbox_weak;
  command.json = options.json;
  if (options.attack) return run_attacks(command);
  const auto sandbox = platform::make_sandbox(settings, io::real_processes());
  if (const std::string refusal = sandbox->refusal(); !refusal.empty())
    return fail(Error{ErrorKind::io, refusal});
  terminal::print("{}\n", sandbox->describe());
  return exit_ok;
}

void declare_run(CLI::App& run, Options& options) {
  run.add_option("--cores", options.cores, "How many kernels run at a time; 0: one for each core")
      ->type_name("N")
      ->check(CLI::Range(0, 4096));
  run.add_option("--run", options.run,
                 "when-idle: only while nobody uses this computer; always: also while somebody does; never")
      ->check(CLI::IsMember({"when-idle", "always", "never"}));
  run.add_option("--cpu-share", options.cpu_share, "The share of each core to use, for example 50% or 0.5")
      ->check(check_share);
  run.add_option("--benchmark-mflops", options.mflops, "Use this value instead of measuring")
      ->check(CLI::PositiveNumber);
  run.add_option("--priority", options.priority,
                 "idle: kernels give way to all other programs; normal: they compete with them")
      ->check(CLI::IsMember({"idle", "normal"}));
  run.add_option("--sandbox", options.sandbox,
                 std::string("on; or, where bubblewrap cannot be used, the words \"") +
                     platform::sandbox_weak + "\"; or, to run kernels without a sandbox, \"" +
                     platform::sandbox_off + "\"")
      ->check(CLI::IsMember({"on", platform::sandbox_weak, platform::sandbox_off}));
  run.add_option("--log-level", options.log_level, "trace, debug, info, warn, error or off")
      ->check(CLI::IsMember({"trace", "debug", "info", "warn", "error", "off"}));
}

}  // namespace

int client_main(int argc, char** argv) {
  io::make_private_files();
  Options options;
  CLI::App app{"gleaner-client: computes for projects while this computer has nothing else to do",
               "gleaner-client"};
  usage::set_help_form(app);
  app.set_version_flag("--version", std::string("gleaner-client ") + version);
  app.require_subcommand(1);
  app.footer(
      "Exit status: 0 done, 1 a problem (on standard error), 2 wrong usage.\n"
      "The state is in --state, else $STATE_DIRECTORY, else /var/lib/gleaner-client (root), else\n"
      "~/.local/share/gleaner-client. Control a running client with `gleaner`.");
  const auto with_state = [&](CLI::App* command) {
    command->add_option("--state", options.state, "The client's state directory")->type_name("DIR");
    return command;
  };
  CLI::App* join = with_state(app.add_subcommand("join", "Join a project; a client can join several"));
  join->add_option(
          "code", options.code,
          "The join code: gleaner://...; or -: a line of standard input, which other users cannot see")
      ->required();
  join->add_option("--name", options.name,
                   "The name of this computer in the project (default: its host name)");
  CLI::App* run = with_state(app.add_subcommand("run", "Compute until stopped"));
  declare_run(*run, options);
  CLI::App* leave = with_state(app.add_subcommand("leave", "Leave a project and delete its data"));
  leave->add_option("project", options.project,
                    "The project, if there are several: its name, the beginning of its key, or its server");
  leave->add_flag("--all", options.all_projects, "Leave all projects");
  CLI::App* benchmark = app.add_subcommand("benchmark", "Measure the processor (Linpack 500) and memory");
  CLI::App* sandbox = with_state(
      app.add_subcommand("sandbox", "Test and describe how kernels are confined on this computer"));
  sandbox->add_option("--sandbox", options.sandbox, "As for run; else as the preferences say")
      ->check(CLI::IsMember({"on", platform::sandbox_weak}));
  CLI::Option* const attack =
      sandbox->add_flag("--attack", options.attack,
                        "Run a hostile kernel in it and report what it could not do; takes a minute");
  sandbox->add_flag("--json", options.json, "Print JSON")->needs(attack);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {  // --help, --version
    return app.exit(success);
  } catch (const CLI::ParseError& mistake) {
    terminal::print(stderr, "gleaner-client: {}\n", usage::explain(app, mistake));
    return exit_usage;
  }
  const auto memory = set_up_log(options.log_level);
  if (join->parsed())
    return run_join({state_of(options), options.code, options.name, !options.state.empty()});
  if (run->parsed()) return do_run(options, memory);
  if (leave->parsed()) return run_leave({state_of(options), options.project, options.all_projects});
  if (sandbox->parsed()) return do_sandbox(options);
  CHECK_TRUE(benchmark->parsed());
  return do_benchmark();
}

}  // namespace gleaner::program
