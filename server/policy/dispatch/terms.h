// What dispatch (dispatch.h) is told of problems, hosts and requests, and what it answers. Value types.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server/policy/dispatch/fair_share.h"
#include "server/policy/stage/stage.h"
#include "shared/protocol/messages.h"

namespace gleaner::policy {

// What a kernel of the problem's application needs.
struct KernelNeeds {
  std::string application;             // its name
  std::vector<std::string> platforms;  // that there is a kernel for; "any": all
  std::int64_t memory_bytes = 0;
  int threads = 1;
  std::vector<std::string> capabilities = {};  // needs that a host must meet (shared/base/capability.h)
};

struct ProblemTerms {
  std::string strategy;  // sizing or mapping; what governs the stage's sizes is in its setup
  ShareTerms share;
  bool running = true;  // hands out work while it has a stage; false: paused, planning, combining
  KernelNeeds needs;
};

struct HostTerms {
  double performance = 0;     // its benchmark
  Timestamp held_until = {};  // after failures
  std::string held_because;
  std::vector<ProblemId> barred;  // problems that it gets nothing of
  bool own = true;                // one of the project's; false: a stranger, for whom `cores` is a bound
  int cores = 0;                  // as it enrolled
  std::string on_hold = {};  // why it gets no new unit until an administrator releases it; empty: it does
  friend bool operator==(const HostTerms&, const HostTerms&) = default;
};
// As far as it is believed: a stranger's is not.
[[nodiscard]] inline double benchmark_of(const HostTerms& terms) {
  return terms.own ? terms.performance : 0;
}

// What a host offers to kernels, with every request.
struct HostOffer {
  std::vector<std::string> platforms;
  std::optional<std::vector<std::string>> applications;  // the only ones permitted; absent: any
  std::int64_t memory_bytes = 0;                         // 0: not said
  int cores = 1;
  std::vector<std::string> capabilities = {};
};

using SlotDemand = protocol::SlotRequest;

struct WorkDemand {
  HostId host;
  std::vector<SlotDemand> slots;
  HostOffer offer;
  protocol::Proposal proposal;
  std::vector<UnitId> units;  // unused ids, ascending: one a slot
  std::optional<RelayOffer> relay = {};
  // Of these its server, a relay, may get more from above: until it does, hosts get free items only.
  std::vector<ProblemId> awaited = {};
};

struct SlotGrant {
  int slot = 0;
  ProblemId problem;
  UnitId unit;
};

struct Served {
  std::vector<SlotGrant> grants;
  double retry_after = 0;  // for slots that got nothing
  std::string reason;      // why they did not
  // What stages changed, in order; to be stored.
  std::vector<std::pair<ProblemId, Changes>> changes;
};

[[nodiscard]] bool fits(const KernelNeeds& needs, const HostOffer& offer);

}  // namespace gleaner::policy
