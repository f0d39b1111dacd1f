// The searches over lanes of one width: hash, look the one word up, note who passes. Included as lanes.h is.
#pragma once

#include "apps/passwords/engine.h"
#include "apps/passwords/rounds.h"

namespace gleaner::passwords {
namespace {  // NOLINT(google-build-namespaces): see lanes.h

// The steps after which the filter's word is known.
constexpr int md5_filter_steps = 61;
constexpr int sha1_filter_steps = 76;
constexpr int sha256_filter_steps = 61;

GLEANER_INLINE bool in_table(const Filter& filter, std::uint32_t word) {
  std::uint32_t slot = word * table_multiplier & filter.table_mask;
  while (const std::uint64_t entry = filter.table[slot]) {
    if (static_cast<std::uint32_t>(entry) == word) return true;
    slot = (slot + 1) & filter.table_mask;
  }
  return false;
}

// Notes the lanes whose word passes; candidates are first, first + 1, …; those from `count` on do not exist.
template <class V>
GLEANER_INLINE std::size_t note(V lanes, std::size_t first, std::size_t count, const Filter& filter,
                                std::uint32_t* found) {
  alignas(64) std::uint32_t words[lanes_of<V>];
  store(lanes, words);
  std::uint32_t any = 0;
  for (std::size_t i = 0; i < lanes_of<V>; ++i) {
    const std::uint32_t bit = words[i] & filter.bitmap_mask;
    any |= filter.bitmap[bit >> 5] >> (bit & 31);
  }
  std::size_t noted = 0;
  if ((any & 1) == 0) return noted;
  for (std::size_t i = 0; i < lanes_of<V> && first + i < count; ++i) {
    const std::uint32_t bit = words[i] & filter.bitmap_mask;
    if ((filter.bitmap[bit >> 5] >> (bit & 31) & 1) != 0 && in_table(filter, words[i]))
      found[noted++] = static_cast<std::uint32_t>(first + i);
  }
  return noted;
}

template <class V, class Words>
GLEANER_INLINE V md5_word_of(const Words& words, const V* lanes) {
  V s[4];
  md5_steps<md5_filter_steps>(s, words, lanes);
  return s[0] + md5_initial[0];
}

template <class V, class Words>
GLEANER_INLINE V sha1_word_of(const Words& words, const V* lanes) {
  V s[5];
  sha1_steps<sha1_filter_steps>(s, words, lanes);
  return rotate<30>(s[0]) + sha1_initial[4];
}

template <class V>
GLEANER_INLINE V sha256_word_of(V (&w)[16]) {
  V s[8];
  sha256_steps<sha256_filter_steps>(s, w);
  return s[4] + sha256_initial[7];
}

// V: lanes for MD5 and SHA-1; S: for SHA-256, which has more state.
template <class V, class S>
std::size_t search_heads_of(Algorithm algorithm, const std::uint32_t* block, const std::uint32_t* heads,
                            std::size_t count, const Filter& filter, std::uint32_t* found) {
  std::size_t noted = 0;
  if (algorithm == Algorithm::md5) {
    const Md5HeadWords words(block);
    for (std::size_t i = 0; i < count; i += lanes_of<V>) {
      const V head = load<V>(heads + i) | block[0];
      noted += note(md5_word_of<V>(words, &head), i, count, filter, found + noted);
    }
  } else if (algorithm == Algorithm::sha1) {
    const Sha1HeadWords<sha1_filter_steps> words(block);
    for (std::size_t i = 0; i < count; i += lanes_of<V>) {
      const V head = load<V>(heads + i) | block[0];
      noted += note(sha1_word_of<V>(words, &head), i, count, filter, found + noted);
    }
  } else {
    for (std::size_t i = 0; i < count; i += lanes_of<S>) {
      S w[16];
      for (int t = 0; t < 16; ++t) w[t] = broadcast<S>(block[t]);
      w[0] = load<S>(heads + i) | block[0];
      noted += note(sha256_word_of(w), i, count, filter, found + noted);
    }
  }
  return noted;
}

template <class S>
std::size_t search_blocks_of(Algorithm algorithm, const std::uint32_t* words, std::size_t stride,
                             std::size_t count, const Filter& filter, std::uint32_t* found) {
  std::size_t noted = 0;
  for (std::size_t i = 0; i < count; i += lanes_of<S>) {
    S w[16];
    for (std::size_t t = 0; t < 16; ++t) w[t] = load<S>(words + t * stride + i);
    S word;
    if (algorithm == Algorithm::md5) {
      word = md5_word_of<S>(Md5BlockWords{}, w);
    } else if (algorithm == Algorithm::sha1) {
      word = sha1_word_of<S>(Sha1BlockWords{}, w);
    } else {
      word = sha256_word_of(w);
    }
    noted += note(word, i, count, filter, found + noted);
  }
  return noted;
}

}  // namespace
}  // namespace gleaner::passwords
