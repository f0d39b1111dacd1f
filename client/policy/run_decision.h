// Whether kernels may compute now, and why, in one sentence. Rules: each signal allows at most one mode; the
// most cautious one wins, and among equals the first (so that the owner's own word is the reason given).
// Total: every combination has an answer and a reason. The idle engine adds signals, hysteresis and dwell
// times here; nothing else decides. Pure. Cost: O(signals).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "shared/base/clock.h"

namespace gleaner::client_policy {

enum class RunMode : int { pause = 1, throttle = 2, run = 3 };  // from cautious to free
[[nodiscard]] const char* name_of(RunMode mode);

struct Preferences {
  bool enabled = true;
  std::optional<Duration>
      paused_for;                 // what is left of a pause that the owner asked for; max(): until resumed
  double cpu_share = 1;           // of each allowed core, (0, 1]
  int cores = 1;                  // that kernels may use
  std::string paused_until = {};  // the time by this computer's clock, "18:30"; empty: not known
  bool until_saved = false;       // the pause begins when what is computed just now is saved
  bool at_any_time = false;       // also while somebody uses this computer
};

// Something the client noticed. `allows` is the freest mode that it leaves.
struct Signal {
  std::string source;  // "disk", "server"; later "x11", "battery", ...
  RunMode allows = RunMode::run;
  std::string sentence;  // "the disk is nearly full: ..."; shown and reported as the reason
  double share = 1;      // of what kernels may use of each core otherwise
  // A level: the most that kernels use of each core, and the most cores; 1 and 0: no limit. `sentence` is the
  // reason for what it limits.
  double share_max = 1;
  int cores_max = 0;
};

struct RunDecision {
  RunMode mode = RunMode::pause;
  double cpu_share = 1;
  int cores = 1;
  std::string source;  // whose word `reason` is: a signal's, "owner", "preferences"; empty: nobody's
  std::string reason;  // never empty
  std::optional<Duration> recheck;  // when time alone may change it
};

[[nodiscard]] RunDecision decide(const Preferences& preferences, const std::vector<Signal>& signals);

// The reason as the project may read it: no person, session, program or path of this computer is named.
[[nodiscard]] std::string told_to_project(const RunDecision& decision);

}  // namespace gleaner::client_policy
