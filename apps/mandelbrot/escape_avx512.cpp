#include <immintrin.h>

#include "apps/mandelbrot/escape_lanes.h"

namespace gleaner::mandelbrot::avx512 {
namespace {

using Doubles8 = double __attribute__((vector_size(64)));

inline unsigned outside(Doubles8 squares) {
  return _mm512_cmp_pd_mask(squares, _mm512_set1_pd(4), _CMP_GT_OQ);
}

}  // namespace

void escape_row(const RowWork& work) {
  Lanes<Doubles8, outside, 4>(work).run();
}

}  // namespace gleaner::mandelbrot::avx512
