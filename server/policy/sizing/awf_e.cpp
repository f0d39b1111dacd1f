// AWF-E, adaptive weighted factoring unit by unit and by time from assignment to result: R. L. Carino, I.
// Banicescu, J. Supercomputing 44, 2008. The rule is in awf.h.
#include "server/policy/sizing/awf.h"

namespace gleaner::policy {

SizingEntry awf_e_entry() {
  return {{"awf-e",
           "half of the worker's part of what is left, by times from assignment to result",
           "Carino and Banicescu 2008, AWF-E",
           {}},
          [](SizingOptions&, SizingMode mode) -> Result<std::unique_ptr<SizingStrategy>> {
            return make_adaptive_weighted({"awf-e", false, true}, mode);
          }};
}

}  // namespace gleaner::policy
