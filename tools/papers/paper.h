// A divisible job under the papers' own conditions, in virtual time: workers of constant speed; without a
// machine model no overheads and no foreign load. The sizing strategy asked is the live server's object.
// Event loop: server/policy/sizing/SIZING.md, with the papers' duplication (each outstanding sub-task once)
// and omission (at 70 % completed) as options.
//
// Deterministic: events at the same time are taken by worker index. Speeds are in cost units per second.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "server/policy/sizing/sizing.h"
#include "shared/base/range_set.h"
#include "shared/base/result.h"
#include "tools/simulator/machine_model.h"

namespace gleaner::simulator {

struct PaperHost {
  double speed = 1;
  double performance = 0;                                    // its benchmark; 0: the speed
  double clock = 0;                                          // 0: unknown
  double dies_at = std::numeric_limits<double>::infinity();  // answers nothing from then on
};

struct PaperInstance {
  std::int64_t items = 0;
  std::vector<double> costs;  // one an item; empty: all 1
  std::vector<PaperHost> hosts;
  bool duplicate = false;
  bool omit = false;
  std::string strategy = "wis,mode=paper";
  double slowest_registered = 0;  // of machines that are registered but not in this run (WIS eq. 10); 0: none
  policy::GridLimits limits;      // for mode=grid
  std::optional<MachineModel> model;  // speeds are then those without foreign jobs
};

struct PaperGrant {
  int host = 0;
  std::int64_t count = 0;
  bool copy = false;
  friend bool operator==(const PaperGrant&, const PaperGrant&) = default;
};

struct PaperRun {
  std::vector<PaperGrant> grants;
  std::int64_t requests = 0;  // that got something, copies included
  std::int64_t copies = 0;
  std::int64_t given_back = 0;  // items
  double makespan = 0;
  double idle_seconds = 0;             // of all workers: from a completion to the next start (eq. 14, 15)
  bool complete = false;               // false: workers that died hold the rest for ever
  std::vector<std::int64_t> accepted;  // times that each item was accepted: 1 everywhere in a complete run
};

// Errors: invalid, for an instance without items or workers, a speed that is not positive, costs that do not
// fit the items, a strategy that does not parse.
[[nodiscard]] Result<PaperRun> run_paper(const PaperInstance& instance);

}  // namespace gleaner::simulator
