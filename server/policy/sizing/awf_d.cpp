// AWF-D, adaptive weighted factoring by batches and time from assignment to result: R. L. Carino, I.
// Banicescu, J. Supercomputing 44, 2008. The rule is in awf.h.
#include "server/policy/sizing/awf.h"

namespace gleaner::policy {

SizingEntry awf_d_entry() {
  return {{"awf-d",
           "batches: half of what is left, by times from assignment to result",
           "Carino and Banicescu 2008, AWF-D",
           {}},
          [](SizingOptions&, SizingMode mode) -> Result<std::unique_ptr<SizingStrategy>> {
            return make_adaptive_weighted({"awf-d", true, true}, mode);
          }};
}

}  // namespace gleaner::policy
