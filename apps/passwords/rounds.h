// The steps of MD5 (RFC 1321), SHA-1 and SHA-256 (FIPS 180-4) over one block, on lanes. Two kinds of blocks:
// HeadWords differ between lanes in word 0 only, so that everything else is prepared once a batch; BlockWords
// differ anywhere. Included as lanes.h is.
#pragma once

#include "apps/passwords/lanes.h"

namespace gleaner::passwords {
namespace {  // NOLINT(google-build-namespaces): see lanes.h

constexpr std::uint32_t md5_added[64] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};
constexpr int md5_rotation[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
constexpr std::uint32_t md5_initial[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};

constexpr int md5_word(int step) {
  constexpr int factor[4] = {1, 5, 3, 7};
  constexpr int offset[4] = {0, 1, 5, 0};
  return (step * factor[step / 16] + offset[step / 16]) % 16;
}

constexpr std::uint32_t sha1_added[4] = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};
constexpr std::uint32_t sha1_initial[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};

constexpr std::uint32_t sha256_added[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
constexpr std::uint32_t sha256_initial[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                             0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

template <class V>
GLEANER_INLINE V broadcast(std::uint32_t word) {
  return V{} + word;
}

// ---- MD5

// Gives the lane words of K[i] + message word of step i, added to x.
struct Md5HeadWords {
  std::uint32_t sums[64];  // without word 0
  GLEANER_INLINE explicit Md5HeadWords(const std::uint32_t* block) {
    unroll<64>([&]<int i>() __attribute__((always_inline)) {
      sums[i] = md5_added[i] + (md5_word(i) == 0 ? 0 : block[md5_word(i)]);
    });
  }
  template <int step, class V>
  GLEANER_INLINE V add(V x, const V* words) const {
    if constexpr (md5_word(step) == 0) x = x + words[0];
    return x + sums[step];
  }
};
struct Md5BlockWords {
  template <int step, class V>
  GLEANER_INLINE V add(V x, const V* words) const {
    return x + words[md5_word(step)] + md5_added[step];
  }
};

// Steps 0 to steps - 1; s[0 … 3] are a, b, c, d afterwards. With 61 steps s[0] is the final a before the last
// addition (the three steps left only change the others).
template <int steps, class V, class Words>
GLEANER_INLINE void md5_steps(V (&s)[4], const Words& words, const V* lanes) {
  for (int i = 0; i < 4; ++i) s[i] = broadcast<V>(md5_initial[i]);
  unroll<steps>([&]<int i>() __attribute__((always_inline)) {
    V& a = s[(64 - i) % 4];
    const V b = s[(65 - i) % 4];
    const V c = s[(66 - i) % 4];
    const V d = s[(67 - i) % 4];
    V f;
    if constexpr (i < 16) {
      f = choose(b, c, d);
    } else if constexpr (i < 32) {
      f = choose(d, b, c);
    } else if constexpr (i < 48) {
      // One of the two inner sums is the step before's.
      f = i % 2 == 0 ? parity(b, c, d) : parity(d, c, b);
    } else {
      f = crossed(b, c, d);
    }
    a = rotate<md5_rotation[i / 16][i % 4]>(words.template add<i>(a + f, lanes)) + b;
  });
}

// ---- SHA-1

// Message words are linear in word 0: w[t] = C[t] ^ (some rotations of word 0). Bit k of the mask: rotated by
// k.
struct Sha1Rotations {
  std::uint32_t mask[80] = {};
  constexpr Sha1Rotations() {
    mask[0] = 1;
    for (int t = 16; t < 80; ++t) {
      const std::uint32_t sum = mask[t - 3] ^ mask[t - 8] ^ mask[t - 14] ^ mask[t - 16];
      mask[t] = sum << 1 | sum >> 31;
    }
  }
  // Rotations that any of the first `steps` words needs.
  [[nodiscard]] constexpr std::uint32_t all(int steps) const {
    std::uint32_t sum = 0;
    for (int t = 0; t < steps; ++t) sum |= mask[t];
    return sum;
  }
};
constexpr Sha1Rotations sha1_rotations;

constexpr int bits_in(std::uint32_t mask) {
  return mask == 0 ? 0 : 1 + bits_in(mask & (mask - 1));
}
constexpr int nth_bit(std::uint32_t mask, int n) {
  while (n-- > 0) mask &= mask - 1;
  return __builtin_ctz(mask);
}

template <int steps>
struct Sha1HeadWords {
  std::uint32_t constants[80];
  GLEANER_INLINE explicit Sha1HeadWords(const std::uint32_t* block) {
    constants[0] = 0;
    for (int t = 1; t < 16; ++t) constants[t] = block[t];
    for (int t = 16; t < steps; ++t)
      constants[t] = rotate<1>(constants[t - 3] ^ constants[t - 8] ^ constants[t - 14] ^ constants[t - 16]);
    for (int t = 0; t < steps; ++t) {
      if (sha1_rotations.mask[t] == 0) constants[t] += sha1_added[t / 20];
    }
  }
  template <class V>
  struct Schedule {
    V rotated[32];
    GLEANER_INLINE explicit Schedule(const V* words) {
      unroll<32>([&]<int k>() __attribute__((always_inline)) {
        if constexpr (k == 0) {
          rotated[0] = words[0];
        } else if constexpr ((sha1_rotations.all(steps) >> k & 1) != 0) {
          rotated[k] = rotate<k>(words[0]);
        }
      });
    }
  };
  // x + w[t] + K
  template <int t, class V>
  GLEANER_INLINE V add(V x, Schedule<V>& schedule) const {
    constexpr std::uint32_t mask = sha1_rotations.mask[t];
    constexpr int terms = bits_in(mask);
    if constexpr (terms == 0) {
      return x + constants[t];
    } else {
      V word = schedule.rotated[nth_bit(mask, 0)] ^ constants[t];
      unroll<(terms - 1) / 2>([&]<int i>() __attribute__((always_inline)) {
        word = parity(word, schedule.rotated[nth_bit(mask, 1 + 2 * i)],
                      schedule.rotated[nth_bit(mask, 2 + 2 * i)]);
      });
      if constexpr (terms % 2 == 0) word = word ^ schedule.rotated[nth_bit(mask, terms - 1)];
      return x + word + sha1_added[t / 20];
    }
  }
};
struct Sha1BlockWords {
  template <class V>
  struct Schedule {
    V w[16];
    GLEANER_INLINE explicit Schedule(const V* words) {
      for (int t = 0; t < 16; ++t) w[t] = words[t];
    }
  };
  template <int t, class V>
  GLEANER_INLINE V add(V x, Schedule<V>& schedule) const {
    V* w = schedule.w;
    if constexpr (t >= 16) {
      w[t % 16] = rotate<1>(parity(w[(t - 3) % 16], w[(t - 8) % 16], w[(t - 14) % 16]) ^ w[t % 16]);
    }
    return x + w[t % 16] + sha1_added[t / 20];
  }
};

// s[0 … 4] are a … e after `steps` steps.
template <int steps, class V, class Words>
GLEANER_INLINE void sha1_steps(V (&s)[5], const Words& words, const V* lanes) {
  typename Words::template Schedule<V> schedule(lanes);
  V v[5];
  for (int i = 0; i < 5; ++i) v[i] = broadcast<V>(sha1_initial[i]);
  unroll<steps>([&]<int t>() __attribute__((always_inline)) {
    const V a = v[(80 - t) % 5];
    V& b = v[(81 - t) % 5];
    const V c = v[(82 - t) % 5];
    const V d = v[(83 - t) % 5];
    V& e = v[(84 - t) % 5];
    V f;
    if constexpr (t < 20) {
      f = choose(b, c, d);
    } else if constexpr (t < 40 || t >= 60) {
      f = parity(b, c, d);
    } else {
      f = majority(b, c, d);
    }
    e = words.template add<t>(e + f, schedule) + rotate<5>(a);
    b = rotate<30>(b);
  });
  for (int i = 0; i < 5; ++i) s[i] = v[(80 - steps + i) % 5];
}

// ---- SHA-256

template <int first, int second, int shift, class V>
GLEANER_INLINE V small_sigma(V x) {
  return parity(rotate<32 - first>(x), rotate<32 - second>(x), x >> shift);
}
template <int first, int second, int third, class V>
GLEANER_INLINE V large_sigma(V x) {
  return parity(rotate<32 - first>(x), rotate<32 - second>(x), rotate<32 - third>(x));
}

// s[0 … 7] are a … h after `steps` steps; `w` is used up.
template <int steps, class V>
GLEANER_INLINE void sha256_steps(V (&s)[8], V (&w)[16]) {
  V v[8];
  for (int i = 0; i < 8; ++i) v[i] = broadcast<V>(sha256_initial[i]);
  unroll<steps>([&]<int t>() __attribute__((always_inline)) {
    if constexpr (t >= 16) {
      w[t % 16] = w[t % 16] + small_sigma<7, 18, 3>(w[(t + 1) % 16]) + w[(t + 9) % 16] +
                  small_sigma<17, 19, 10>(w[(t + 14) % 16]);
    }
    const V a = v[(64 - t) % 8];
    const V b = v[(65 - t) % 8];
    const V c = v[(66 - t) % 8];
    V& d = v[(67 - t) % 8];
    const V e = v[(68 - t) % 8];
    const V f = v[(69 - t) % 8];
    const V g = v[(70 - t) % 8];
    V& h = v[(71 - t) % 8];
    const V first = h + large_sigma<6, 11, 25>(e) + choose(e, f, g) + sha256_added[t] + w[t % 16];
    d = d + first;
    h = first + large_sigma<2, 13, 22>(a) + majority(a, b, c);
  });
  for (int i = 0; i < 8; ++i) s[i] = v[(64 - steps + i + 8) % 8];
}

}  // namespace
}  // namespace gleaner::passwords
