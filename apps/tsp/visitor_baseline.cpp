#include "apps/tsp/visitor.h"

namespace gleaner::tsp::baseline {

using Signed4 = std::int32_t __attribute__((vector_size(16)));
using Unsigned4 = std::uint32_t __attribute__((vector_size(16)));

void visit(const Work& work, Best& best) {
  visit_with<Signed4, Unsigned4>(work, best);
}

}  // namespace gleaner::tsp::baseline
