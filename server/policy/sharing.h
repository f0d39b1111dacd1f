// Which problem a requesting host works for: weighted fair sharing (start-time fair queueing on service
// received, Goyal, Vin and Cheng 1996), priority doubling the weight a step, so that none starves. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "shared/base/ids.h"

namespace gleaner::policy {

struct ShareView {
  ProblemId problem;
  double weight = 1;
  int priority = 0;    // -8 ... 8; each step doubles the share
  double service = 0;  // virtual service so far: granted slot-seconds / (weight * 2^priority)
};

// Of the slots, relative to the others': weight * 2^priority.
[[nodiscard]] double share(const ShareView& view);
// All candidates, most deserving first. Ties: lower id.
[[nodiscard]] std::vector<ProblemId> order_by_share(std::span<const ShareView> candidates);
// Virtual service after `slot_seconds` were granted.
[[nodiscard]] double charge(const ShareView& view, double slot_seconds);
// Where a newcomer starts: the least service of the others, so that it neither starves them nor waits.
[[nodiscard]] double starting_service(std::span<const ShareView> others);

}  // namespace gleaner::policy
