// Hashing many candidates at once. A candidate is the one 64-byte block that MD5, SHA-1 and SHA-256 pad short
// texts to, as sixteen 32-bit words in the algorithm's byte order. The variants differ in how many they take
// at once, never in what they find. Pure functions; thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "apps/kit/cpu_features.h"
#include "apps/passwords/filter.h"

namespace gleaner::passwords {

enum class Algorithm { md5, sha1, sha256 };
inline constexpr std::array<Algorithm, 3> algorithms{Algorithm::md5, Algorithm::sha1, Algorithm::sha256};

[[nodiscard]] std::string_view name_of(Algorithm algorithm);
[[nodiscard]] std::size_t digest_bytes(Algorithm algorithm);

using Block = std::array<std::uint32_t, 16>;

// REQUIRES: text.size() <= 55.
[[nodiscard]] Block block_of(Algorithm algorithm, std::string_view text);
// The digest, in bytes as everybody writes it.
[[nodiscard]] std::string digest_of(Algorithm algorithm, std::string_view text);
// The word of a digest that filters look at. It is the one that the algorithm knows first: the last steps
// need not be made.
[[nodiscard]] std::uint32_t filter_word(Algorithm algorithm, std::string_view digest);

// Blocks that differ in word 0 only: `block`, with heads[i] or'ed to word 0. Appends to `found` the i of
// candidates that pass the filter, in order; gives their number. REQUIRES: heads has `batch_padding` readable
// words beyond `count`; found has room for `count`.
using SearchHeads = std::size_t (*)(Algorithm, const std::uint32_t* block, const std::uint32_t* heads,
                                    std::size_t count, const Filter&, std::uint32_t* found);
// Blocks of their own: word w of candidate i is words[w * stride + i]. REQUIRES: count is a multiple of
// `batch_padding`, at most stride.
using SearchBlocks = std::size_t (*)(Algorithm, const std::uint32_t* words, std::size_t stride,
                                     std::size_t count, const Filter&, std::uint32_t* found);
inline constexpr std::size_t batch_padding = 64;

struct Engine {
  SearchHeads heads;
  SearchBlocks blocks;
};
[[nodiscard]] Engine engine(kit::CpuLevel level);

// The variants, each in its file.
namespace baseline {
std::size_t search_heads(Algorithm, const std::uint32_t*, const std::uint32_t*, std::size_t, const Filter&,
                         std::uint32_t*);
std::size_t search_blocks(Algorithm, const std::uint32_t*, std::size_t, std::size_t, const Filter&,
                          std::uint32_t*);
}  // namespace baseline
namespace avx2 {
std::size_t search_heads(Algorithm, const std::uint32_t*, const std::uint32_t*, std::size_t, const Filter&,
                         std::uint32_t*);
std::size_t search_blocks(Algorithm, const std::uint32_t*, std::size_t, std::size_t, const Filter&,
                          std::uint32_t*);
}  // namespace avx2
namespace avx512 {
std::size_t search_heads(Algorithm, const std::uint32_t*, const std::uint32_t*, std::size_t, const Filter&,
                         std::uint32_t*);
std::size_t search_blocks(Algorithm, const std::uint32_t*, std::size_t, std::size_t, const Filter&,
                          std::uint32_t*);
}  // namespace avx512

}  // namespace gleaner::passwords
