#include "apps/passwords/search_lanes.h"

namespace gleaner::passwords::avx512 {

std::size_t search_heads(Algorithm algorithm, const std::uint32_t* block, const std::uint32_t* heads,
                         std::size_t count, const Filter& filter, std::uint32_t* found) {
  return search_heads_of<Pair<Lanes16>, Lanes16>(algorithm, block, heads, count, filter, found);
}

std::size_t search_blocks(Algorithm algorithm, const std::uint32_t* words, std::size_t stride,
                          std::size_t count, const Filter& filter, std::uint32_t* found) {
  return search_blocks_of<Lanes16>(algorithm, words, stride, count, filter, found);
}

}  // namespace gleaner::passwords::avx512
