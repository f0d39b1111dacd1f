#include "apps/tsp/visitor.h"

namespace gleaner::tsp::avx2 {

using Signed8 = std::int32_t __attribute__((vector_size(32)));
using Unsigned8 = std::uint32_t __attribute__((vector_size(32)));

void visit(const Work& work, Best& best) {
  visit_with<Signed8, Unsigned8>(work, best);
}

}  // namespace gleaner::tsp::avx2
