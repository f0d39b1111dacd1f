#include <immintrin.h>

#include "apps/mandelbrot/deep_lanes.h"

namespace gleaner::mandelbrot::avx2 {
namespace {

struct Lanes4 {
  using Double = double __attribute__((vector_size(32)));
  using Mask = std::int64_t __attribute__((vector_size(32)));
  static inline unsigned bits(Mask mask) {
    return static_cast<unsigned>(_mm256_movemask_pd(reinterpret_cast<__m256d>(mask)));
  }
  static inline Double gather(const double* from, Mask index) {
    return _mm256_i64gather_pd(from, reinterpret_cast<__m256i>(index), 8);
  }
};

}  // namespace

void escape_deep_row(const DeepWork& work) {
  DeepLanes<Lanes4, 4>(work).run();
}

}  // namespace gleaner::mandelbrot::avx2
