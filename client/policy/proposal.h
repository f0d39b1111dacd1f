// Worker-initiated sizing, the client's part. Source: Qureshi and Hatanaka 1999, equations 10 to 12,
// as server/policy/sizing/SIZING.md reads them: queue lengths count runnable jobs without our own kernels,
// plus one, on both sides. (10) tinit = Pu / Pu_slowest   (11) Pc = Pu * Qu / Qc   (12) t = tinit * Pc / Pu;
// size = max(1, floor(t)) The server clamps what is proposed here and says why. Pure. Cost: O(1).
#pragma once

#include "shared/protocol/messages.h"

namespace gleaner::client_policy {

struct ProposalView {
  double benchmark_mflops = 0;     // one core, unloaded; 0: not measured yet
  double cpu_share = 1;            // that kernels may use of a core
  double slowest_performance = 0;  // Pu_slowest in MFLOP/s, as the server told; 0: unknown
  double foreign_current = 0;      // runnable foreign jobs per core now; none when the benchmark ran
  double watts_per_core = 0;       // that all of a core draws, by the owner's word; 0: not said
};

// `items` is 0 while the benchmark or the slowest performance is unknown.
[[nodiscard]] protocol::Proposal propose(const ProposalView& view);

}  // namespace gleaner::client_policy
