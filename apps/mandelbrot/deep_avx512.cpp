#include <immintrin.h>

#include "apps/mandelbrot/deep_lanes.h"

namespace gleaner::mandelbrot::avx512 {
namespace {

struct Lanes8 {
  using Double = double __attribute__((vector_size(64)));
  using Mask = std::int64_t __attribute__((vector_size(64)));
  static inline unsigned bits(Mask mask) { return _mm512_movepi64_mask(reinterpret_cast<__m512i>(mask)); }
  static inline Double gather(const double* from, Mask index) {
    return _mm512_i64gather_pd(reinterpret_cast<__m512i>(index), from, 8);
  }
};

}  // namespace

void escape_deep_row(const DeepWork& work) {
  DeepLanes<Lanes8, 4>(work).run();
}

}  // namespace gleaner::mandelbrot::avx512
