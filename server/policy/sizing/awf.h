// AWF, adaptive weighted factoring: factoring whose weights follow what was measured. I. Banicescu, V.
// Velusamy, J. Devaprasad, "On the scalability of dynamic scheduling scientific applications with adaptive
// weighted factoring", Cluster Computing 6, 2003; the variants B to E: R. L. Carino, I. Banicescu, "Dynamic
// load balancing with adaptive factoring methods in scientific applications", J. Supercomputing 44, 2008.
//
// A worker's pace is its weighted average time of an item, pi_j = sum k t_k / sum k n_k over its units k = 1,
// 2 ...; its weight w_j = (1/pi_j) / mean of 1/pi over the workers with a result. A worker without one has
// weight 1, as the first batch of the paper. Size: max(1, ceil(w_j R / 2p)), with the newest pace at every
// request.
//   B, D  R is what was free when the batch of p units began      C, E  R is what is free now
//   B, C  t_k is computing time                                   D, E  t_k is the time from assignment to
//   result
// Internal to the module.
#pragma once

#include <string>

#include "server/policy/sizing/table.h"

namespace gleaner::policy {

struct AdaptiveWeights {
  std::string name;
  bool batches = true;
  bool with_waiting = false;
};

[[nodiscard]] std::unique_ptr<SizingStrategy> make_adaptive_weighted(AdaptiveWeights variant,
                                                                     SizingMode mode);

}  // namespace gleaner::policy
