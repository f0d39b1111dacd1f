// The parameters of a password audit. One position is one guess: in enumeration the candidate of that index,
// in random mode the candidate that the seed draws for that position. Items are equal blocks of positions.
#pragma once

#include <cstdint>
#include <string>

#include "apps/kit/problem.h"
#include "apps/passwords/engine.h"
#include "apps/passwords/keyspace.h"
#include "shared/base/range_set.h"
#include "shared/base/result.h"

namespace gleaner::passwords {

enum class Mode { enumerate, random };

struct Settings {
  Algorithm algorithm = Algorithm::md5;
  Mode mode = Mode::enumerate;
  Keyspace keyspace;
  std::int64_t positions = 0;  // guesses in all
  std::int64_t block = 1;      // positions of an item; the last may have fewer
  std::uint64_t seed = 1;      // of random mode
  std::int64_t generate = 0;   // accounts to make up; 0: the input `digests` lists them
  std::uint64_t generate_seed = 1;
  bool reveal = false;

  [[nodiscard]] std::int64_t items() const { return (positions + block - 1) / block; }
  [[nodiscard]] Range item_positions(std::int64_t item) const {
    return {item * block, std::min(positions, (item + 1) * block)};
  }
  // The candidate that is guessed at a position: its index in the key space.
  [[nodiscard]] std::int64_t candidate(std::int64_t position) const;
};

// invalid with every mistake named.
[[nodiscard]] Result<Settings> read_settings(const kit::Problem& problem);

}  // namespace gleaner::passwords
