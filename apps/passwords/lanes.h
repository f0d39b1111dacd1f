// 32-bit lanes: a vector of them, or one. Included by the variants (engine_*.cpp) and the plain digest only;
// everything is in an unnamed namespace, because each includer is compiled for another processor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#ifdef __AVX512F__
#include <immintrin.h>
#endif

#define GLEANER_INLINE inline __attribute__((always_inline))

namespace gleaner::passwords {
namespace {  // NOLINT(google-build-namespaces): see above

using Lanes1 = std::uint32_t;
using Lanes4 = std::uint32_t __attribute__((vector_size(16)));
using Lanes8 = std::uint32_t __attribute__((vector_size(32)));
using Lanes16 = std::uint32_t __attribute__((vector_size(64)));

template <int bits, class V>
GLEANER_INLINE V rotate(V x) {
#ifdef __AVX512F__
  if constexpr (sizeof(V) == 64) {
    return reinterpret_cast<V>(_mm512_rol_epi32(reinterpret_cast<__m512i>(x), bits));
  } else
#endif
    return (x << bits) | (x >> (32 - bits));
}

// x ? y : z, bit by bit.
template <class V>
GLEANER_INLINE V choose(V x, V y, V z) {
#ifdef __AVX512F__
  if constexpr (sizeof(V) == 64) {
    return reinterpret_cast<V>(_mm512_ternarylogic_epi32(
        reinterpret_cast<__m512i>(x), reinterpret_cast<__m512i>(y), reinterpret_cast<__m512i>(z), 0xca));
  } else
#endif
    return z ^ (x & (y ^ z));
}

template <class V>
GLEANER_INLINE V majority(V x, V y, V z) {
#ifdef __AVX512F__
  if constexpr (sizeof(V) == 64) {
    return reinterpret_cast<V>(_mm512_ternarylogic_epi32(
        reinterpret_cast<__m512i>(x), reinterpret_cast<__m512i>(y), reinterpret_cast<__m512i>(z), 0xe8));
  } else
#endif
    return (x & y) | (z & (x | y));
}

template <class V>
GLEANER_INLINE V parity(V x, V y, V z) {
#ifdef __AVX512F__
  if constexpr (sizeof(V) == 64) {
    return reinterpret_cast<V>(_mm512_ternarylogic_epi32(
        reinterpret_cast<__m512i>(x), reinterpret_cast<__m512i>(y), reinterpret_cast<__m512i>(z), 0x96));
  } else
#endif
    return x ^ y ^ z;
}

// MD5's fourth function: y ^ (x | ~z).
template <class V>
GLEANER_INLINE V crossed(V x, V y, V z) {
#ifdef __AVX512F__
  if constexpr (sizeof(V) == 64) {
    return reinterpret_cast<V>(_mm512_ternarylogic_epi32(
        reinterpret_cast<__m512i>(x), reinterpret_cast<__m512i>(y), reinterpret_cast<__m512i>(z), 0x39));
  } else
#endif
    return y ^ (x | ~z);
}

// Two of them side by side: their steps do not wait for each other.
template <class V>
struct Pair {
  V a, b;
  friend GLEANER_INLINE Pair operator+(Pair x, Pair y) { return {x.a + y.a, x.b + y.b}; }
  friend GLEANER_INLINE Pair operator+(Pair x, std::uint32_t y) { return {x.a + y, x.b + y}; }
  friend GLEANER_INLINE Pair operator^(Pair x, Pair y) { return {x.a ^ y.a, x.b ^ y.b}; }
  friend GLEANER_INLINE Pair operator^(Pair x, std::uint32_t y) { return {x.a ^ y, x.b ^ y}; }
  friend GLEANER_INLINE Pair operator|(Pair x, std::uint32_t y) { return {x.a | y, x.b | y}; }
  friend GLEANER_INLINE Pair operator>>(Pair x, int y) { return {x.a >> y, x.b >> y}; }
};
template <int bits, class V>
GLEANER_INLINE Pair<V> rotate(Pair<V> x) {
  return {rotate<bits>(x.a), rotate<bits>(x.b)};
}
template <class V>
GLEANER_INLINE Pair<V> choose(Pair<V> x, Pair<V> y, Pair<V> z) {
  return {choose(x.a, y.a, z.a), choose(x.b, y.b, z.b)};
}
template <class V>
GLEANER_INLINE Pair<V> majority(Pair<V> x, Pair<V> y, Pair<V> z) {
  return {majority(x.a, y.a, z.a), majority(x.b, y.b, z.b)};
}
template <class V>
GLEANER_INLINE Pair<V> parity(Pair<V> x, Pair<V> y, Pair<V> z) {
  return {parity(x.a, y.a, z.a), parity(x.b, y.b, z.b)};
}
template <class V>
GLEANER_INLINE Pair<V> crossed(Pair<V> x, Pair<V> y, Pair<V> z) {
  return {crossed(x.a, y.a, z.a), crossed(x.b, y.b, z.b)};
}

template <class V>
constexpr std::size_t lanes_of = sizeof(V) / sizeof(std::uint32_t);

template <class V>
GLEANER_INLINE V load(const std::uint32_t* words) {
  V lanes;
  std::memcpy(&lanes, words, sizeof lanes);
  return lanes;
}

template <class V>
GLEANER_INLINE void store(V lanes, std::uint32_t* words) {
  std::memcpy(words, &lanes, sizeof lanes);
}

// f<0>(), f<1>(), … f<count - 1>().
template <int count, class F>
GLEANER_INLINE void unroll(F&& f) {
  [&]<int... i>(std::integer_sequence<int, i...>) __attribute__((always_inline)) {
    (f.template operator()<i>(), ...);
  }
  (std::make_integer_sequence<int, count>{});
}

}  // namespace
}  // namespace gleaner::passwords
