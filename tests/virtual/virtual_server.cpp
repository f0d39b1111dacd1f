// The whole server but for its sockets, in virtual time (play.h). Prints what happened. Exit status: 0 all
// held, 1 something did not (said with the seed and the time), 2 wrong usage.
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>

#include "tests/virtual/play.h"

int main(int argc, char** argv) {
  gleaner::virtual_time::Options options;
  bool loud = false;
  CLI::App app{"The server in virtual time, with injected faults: what it acknowledged was counted once."};
  app.add_option("--days", options.days, "simulated days")->check(CLI::Range(1, 100'000));
  app.add_option("--seed", options.seed, "what happens");
  app.add_option("--hosts", options.hosts, "simulated hosts")->check(CLI::Range(3, 1000));
  app.add_flag("--log", loud, "the server's log, too");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (!loud) spdlog::set_level(spdlog::level::off);
  gleaner::virtual_time::Play(options).run();
  return 0;
}
