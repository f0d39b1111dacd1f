// AWF-B, adaptive weighted factoring by batches and computing time: R. L. Carino, I. Banicescu, J.
// Supercomputing 44, 2008. The rule is in awf.h.
#include "server/policy/sizing/awf.h"

namespace gleaner::policy {

SizingEntry awf_b_entry() {
  return {{"awf-b",
           "batches: half of what is left, by measured computing times",
           "Carino and Banicescu 2008, AWF-B",
           {}},
          [](SizingOptions&, SizingMode mode) -> Result<std::unique_ptr<SizingStrategy>> {
            return make_adaptive_weighted({"awf-b", true, false}, mode);
          }};
}

}  // namespace gleaner::policy
