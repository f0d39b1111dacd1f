#include <immintrin.h>

#include "apps/photons/transport_lanes.h"

namespace gleaner::photons::avx2 {
namespace {

struct Lanes4 {
  using Double = double __attribute__((vector_size(32)));
  using Word = std::uint64_t __attribute__((vector_size(32)));
  using Mask = std::int64_t __attribute__((vector_size(32)));
  static GLEANER_INLINE Double root(Double x) { return _mm256_sqrt_pd(x); }
  static GLEANER_INLINE Word product(Word a, Word b) {
    return reinterpret_cast<Word>(
        _mm256_mul_epu32(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
  }
  static GLEANER_INLINE unsigned bits(Mask mask) {
    return static_cast<unsigned>(_mm256_movemask_pd(reinterpret_cast<__m256d>(mask)));
  }
  static GLEANER_INLINE void cells(Double r, Double z, int stride, std::int32_t* out) {
    const __m128i row = _mm_mullo_epi32(_mm256_cvttpd_epi32(r), _mm_set1_epi32(stride));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm_add_epi32(row, _mm256_cvttpd_epi32(z)));
  }
};

}  // namespace

void walk(const Work& work) {
  Walkers<Lanes4, 4, Purpose::tally>(work).run();
}

void trace(const TraceWork& work) {
  Walkers<Lanes4, 4, Purpose::trace>(work).run();
}

}  // namespace gleaner::photons::avx2
