#include "client/policy/proposal.h"

#include <algorithm>
#include <cmath>

#include "shared/base/limits.h"

namespace gleaner::client_policy {

protocol::Proposal propose(const ProposalView& view) {
  protocol::Proposal proposal;
  proposal.performance = std::max(0.0, view.benchmark_mflops * view.cpu_share);
  proposal.watts = view.watts_per_core * view.cpu_share;
  proposal.queue_unloaded = 1;
  proposal.queue_current = 1 + std::max(0.0, view.foreign_current);
  if (proposal.performance <= 0 || view.slowest_performance <= 0) return proposal;
  const double initial = proposal.performance / view.slowest_performance;
  const double current = proposal.performance * proposal.queue_unloaded / proposal.queue_current;
  const double size = std::floor(initial * current / proposal.performance);
  proposal.items = std::clamp(size, 1.0, static_cast<double>(limits::items_max));
  return proposal;
}

}  // namespace gleaner::client_policy
