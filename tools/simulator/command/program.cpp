#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "shared/base/version.h"
#include "shared/usage/help.h"
#include "shared/usage/usage.h"
#include "tools/simulator/command/commands.h"

namespace gleaner::simulator {
namespace {

constexpr const char* footer =
    R"(Everything runs in virtual time over the very objects that decide in the live server; the same input and
seed give the same output, whatever the machine.

Exit status: 0 done, 1 failed (or an invariant did not hold), 2 wrong usage.
See gleaner-sim(1).)";

}  // namespace

int run_program(Console& console, std::vector<std::string> arguments) {
  CLI::App program("Runs Gleaner's scheduling in virtual time.", "gleaner-sim");
  Action chosen;
  usage::set_help_form(program);
  program.footer(footer);
  program.require_subcommand(1);
  program.set_version_flag("--version", std::string("gleaner-sim ") + version_text);
  add_reproduce_command(program, chosen);
  add_map_command(program, chosen);
  add_cheats_command(program, chosen);
  add_benchmark_command(program, chosen);
  add_replay_command(program, chosen);
  add_run_command(program, chosen);
  add_sizes_command(program, chosen);
  add_strategies_command(program, chosen);
  try {
    std::reverse(arguments.begin(), arguments.end());  // the library takes them from the back
    program.parse(arguments);
  } catch (const CLI::Success& success) {  // --help, --version
    return program.exit(success, console.out, console.error);
  } catch (const CLI::ParseError& mistake) {
    console.error << "gleaner-sim: " << usage::explain(program, mistake) << "\n";
    return 2;
  }
  CHECK_TRUE(chosen != nullptr);
  const Result<int> done = chosen(console);
  console.out.flush();
  if (!done.ok()) {
    console.error << "gleaner-sim: " << done.error().message << '\n';
    return 1;
  }
  if (!console.out) {
    console.error << "gleaner-sim: cannot write to standard output (is the disk full?)\n";
    return 1;
  }
  return *done;
}

}  // namespace gleaner::simulator
