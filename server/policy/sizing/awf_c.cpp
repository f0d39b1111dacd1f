// AWF-C, adaptive weighted factoring unit by unit and by computing time: R. L. Carino, I. Banicescu, J.
// Supercomputing 44, 2008. The rule is in awf.h.
#include "server/policy/sizing/awf.h"

namespace gleaner::policy {

SizingEntry awf_c_entry() {
  return {{"awf-c",
           "half of the worker's part of what is left, by measured computing times",
           "Carino and Banicescu 2008, AWF-C",
           {}},
          [](SizingOptions&, SizingMode mode) -> Result<std::unique_ptr<SizingStrategy>> {
            return make_adaptive_weighted({"awf-c", false, false}, mode);
          }};
}

}  // namespace gleaner::policy
