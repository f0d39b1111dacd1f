#include <immintrin.h>

#include "apps/mandelbrot/escape_lanes.h"

namespace gleaner::mandelbrot::avx2 {
namespace {

using Doubles4 = double __attribute__((vector_size(32)));

inline unsigned outside(Doubles4 squares) {
  return static_cast<unsigned>(_mm256_movemask_pd(_mm256_cmp_pd(squares, _mm256_set1_pd(4), _CMP_GT_OQ)));
}

}  // namespace

void escape_row(const RowWork& work) {
  Lanes<Doubles4, outside, 4>(work).run();
}

}  // namespace gleaner::mandelbrot::avx2
