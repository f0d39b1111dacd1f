// Smith-Waterman, 32 records side by side (Rognes 2011). A value v is kept as the signed byte v - 128, so
// that saturating arithmetic keeps it from 0 to 255: the local alignment's lower bound costs nothing.
#include <immintrin.h>

#include "apps/dsearch/lanes.h"

namespace gleaner::dsearch::avx2 {
namespace {

constexpr std::size_t columns_at_once = 4;
constexpr std::size_t rows_max = 32;

struct Costs {
  __m256i open, extend;
};

inline __attribute__((always_inline)) __m256i cell(__m256i diagonal, __m256i score, __m256i& e, __m256i& f,
                                                   __m256i& best, const Costs& costs) {
  __m256i h = _mm256_adds_epi8(diagonal, score);
  h = _mm256_max_epi8(h, e);
  h = _mm256_max_epi8(h, f);
  best = _mm256_max_epi8(best, h);
  const __m256i opened = _mm256_subs_epi8(h, costs.open);
  e = _mm256_max_epi8(_mm256_subs_epi8(e, costs.extend), opened);
  f = _mm256_max_epi8(_mm256_subs_epi8(f, costs.extend), opened);
  return h;
}

// The scores of four columns' residues against each row of the matrix: 4 vectors a row.
void fill_profile(const LaneWork& work, const std::uint8_t* residues, __m256i* profile) {
  __m256i low_index[columns_at_once];
  __m256i high_index[columns_at_once];
  for (std::size_t c = 0; c < columns_at_once; ++c) {
    const __m256i residue = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(residues + 32 * c));
    // A shuffle gives 0 where the index' highest bit is set: codes from 16 in the first, below in the second.
    low_index[c] = _mm256_add_epi8(residue, _mm256_set1_epi8(0x70));
    high_index[c] = _mm256_sub_epi8(residue, _mm256_set1_epi8(16));
  }
  for (std::size_t r = 0; r < work.row_count; ++r) {
    const auto* row = reinterpret_cast<const __m128i*>(work.rows[r]);
    const __m256i low = _mm256_broadcastsi128_si256(_mm_loadu_si128(row));
    const __m256i high = _mm256_broadcastsi128_si256(_mm_loadu_si128(row + 1));
    for (std::size_t c = 0; c < columns_at_once; ++c) {
      _mm256_store_si256(
          profile + columns_at_once * r + c,
          _mm256_or_si256(_mm256_shuffle_epi8(low, low_index[c]), _mm256_shuffle_epi8(high, high_index[c])));
    }
  }
}

}  // namespace

void score_lanes(const LaneWork& work, std::uint8_t* best_of_lanes) {
  alignas(32) __m256i profile[columns_at_once * rows_max];
  const __m256i zero = _mm256_set1_epi8(-128);
  const Costs costs{_mm256_set1_epi8(work.open), _mm256_set1_epi8(work.extend)};
  auto* state = reinterpret_cast<__m256i*>(work.state);
  for (std::size_t i = 0; i < 2 * work.query_length; ++i) _mm256_store_si256(state + i, zero);
  __m256i best = zero;
  for (std::size_t column = 0; column < work.columns; column += columns_at_once) {
    fill_profile(work, work.residues + 32 * column, profile);
    __m256i d0 = zero, d1 = zero, d2 = zero, d3 = zero;
    __m256i f0 = zero, f1 = zero, f2 = zero, f3 = zero;
    for (std::size_t i = 0; i < work.query_length; ++i) {
      const __m256i* scores = profile + columns_at_once * work.query[i];
      const __m256i left = _mm256_load_si256(state + 2 * i);
      __m256i e = _mm256_load_si256(state + 2 * i + 1);
      const __m256i h0 = cell(d0, _mm256_load_si256(scores), e, f0, best, costs);
      const __m256i h1 = cell(d1, _mm256_load_si256(scores + 1), e, f1, best, costs);
      const __m256i h2 = cell(d2, _mm256_load_si256(scores + 2), e, f2, best, costs);
      const __m256i h3 = cell(d3, _mm256_load_si256(scores + 3), e, f3, best, costs);
      d0 = left;
      d1 = h0;
      d2 = h1;
      d3 = h2;
      _mm256_store_si256(state + 2 * i, h3);
      _mm256_store_si256(state + 2 * i + 1, e);
    }
  }
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(best_of_lanes), _mm256_xor_si256(best, zero));
}

}  // namespace gleaner::dsearch::avx2
