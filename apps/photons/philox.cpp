#include "apps/photons/philox.h"

namespace gleaner::photons {

PhiloxBlock philox(const PhiloxBlock& counter, const std::uint32_t (&key)[2]) {
  PhiloxBlock block = counter;
  std::uint32_t round_key[2] = {key[0], key[1]};
  for (int round = 0; round < philox_rounds; ++round) {
    const std::uint64_t first = std::uint64_t{philox_multipliers[0]} * block.word[0];
    const std::uint64_t second = std::uint64_t{philox_multipliers[1]} * block.word[2];
    block = {{static_cast<std::uint32_t>(second >> 32) ^ block.word[1] ^ round_key[0],
              static_cast<std::uint32_t>(second),
              static_cast<std::uint32_t>(first >> 32) ^ block.word[3] ^ round_key[1],
              static_cast<std::uint32_t>(first)}};
    round_key[0] += philox_increments[0];
    round_key[1] += philox_increments[1];
  }
  return block;
}

}  // namespace gleaner::photons
