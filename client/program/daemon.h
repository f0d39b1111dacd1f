// The composition root of gleaner-client run: makes the real clock, files, processes, network and machine,
// and turns the engine's loop. Returns the program's exit status.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "client/platform/sandbox.h"
#include "client/state/state_directory.h"

namespace gleaner::program {

struct RunOptions {
  state::StateDirectory state;
  int cores = 0;                    // 0: all
  std::optional<double> cpu_share;  // these three overrule the preferences
  std::optional<std::string> run;
  std::optional<double> benchmark_mflops;
  platform::Priority priority = platform::Priority::idle;
  std::optional<std::string> sandbox;                    // the words, as in the preferences
  std::function<std::vector<std::string>()> recent_log;  // for `gleaner log`
};

[[nodiscard]] int run_daemon(const RunOptions& options);

}  // namespace gleaner::program
