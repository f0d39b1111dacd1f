// Randomness. Policies and simulations take a Random& seeded by their caller, so that a run is its seed; the
// generator and its distributions are our own because the standard library's differ between implementations.
// Secrets (keys, tokens) come from shared/crypto, never from here.
#pragma once

#include <cstdint>

namespace gleaner {

// xoshiro256** (Blackman and Vigna 2018), seeded through splitmix64. Not thread-safe.
class Random {
 public:
  explicit Random(std::uint64_t seed);
  // Uniform over all 64-bit values.
  std::uint64_t next();
  // Uniform in [0, bound); REQUIRES: bound > 0. Unbiased (Lemire 2019).
  std::uint64_t below(std::uint64_t bound);
  // Uniform in [low, high]; REQUIRES: low <= high.
  std::int64_t between(std::int64_t low, std::int64_t high);
  // Uniform in [0, 1) with 53 bits.
  double uniform();
  // Exponential with the given mean; normal by Box-Muller (no state kept between calls).
  double exponential(double mean);
  double normal(double mean, double deviation);
  bool chance(double probability) { return uniform() < probability; }

 private:
  std::uint64_t state_[4];
};

}  // namespace gleaner
