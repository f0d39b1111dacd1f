#include "client/policy/cpu_turns.h"

#include <cmath>

namespace gleaner::client_policy {

bool must_wait(std::span<const SlicedKernel> all, std::size_t beginner, double share) {
  if (all[beginner].waits) return false;  // it has waited
  double allowed = 0;
  int running = 0;
  for (const SlicedKernel& kernel : all) {
    allowed += share * kernel.threads;
    if (kernel.runs) running += kernel.threads;
  }
  return running > 0 && running + all[beginner].threads > static_cast<int>(std::ceil(allowed));
}

std::optional<std::size_t> next_turn(std::span<const SlicedKernel> all) {
  std::optional<std::size_t> next;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].waits && (!next || all[i].balance > all[*next].balance)) next = i;
  return next;
}

}  // namespace gleaner::client_policy
