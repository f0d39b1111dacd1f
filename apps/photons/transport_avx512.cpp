#include <immintrin.h>

#include "apps/photons/transport_lanes.h"

namespace gleaner::photons::avx512 {
namespace {

struct Lanes8 {
  using Double = double __attribute__((vector_size(64)));
  using Word = std::uint64_t __attribute__((vector_size(64)));
  using Mask = std::int64_t __attribute__((vector_size(64)));
  static GLEANER_INLINE Double root(Double x) { return _mm512_sqrt_pd(x); }
  static GLEANER_INLINE Word product(Word a, Word b) {
    return reinterpret_cast<Word>(
        _mm512_mul_epu32(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
  }
  static GLEANER_INLINE unsigned bits(Mask mask) {
    return _mm512_movepi64_mask(reinterpret_cast<__m512i>(mask));
  }
  static GLEANER_INLINE void cells(Double r, Double z, int stride, std::int32_t* out) {
    const __m256i row = _mm256_mullo_epi32(_mm512_cvttpd_epi32(r), _mm256_set1_epi32(stride));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm256_add_epi32(row, _mm512_cvttpd_epi32(z)));
  }
};

}  // namespace

void walk(const Work& work) {
  Walkers<Lanes8, 4, Purpose::tally>(work).run();
}

void trace(const TraceWork& work) {
  Walkers<Lanes8, 4, Purpose::trace>(work).run();
}

}  // namespace gleaner::photons::avx512
