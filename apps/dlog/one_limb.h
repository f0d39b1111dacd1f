// Walks modulo a number of at most 64 bits, several side by side: a step waits for its product, so the
// products of other walks fill the time.
#pragma once

#include "apps/dlog/walk.h"

namespace gleaner::dlog {

class OneLimbWalks {
 public:
  explicit OneLimbWalks(const Group& group);
  [[nodiscard]] Points run(std::int64_t item, kit::ItemContext& context);

 private:
  struct Lane;
  // Starts the next walk in a lane; false if there is none.
  bool begin(Lane& lane);
  void finish(const Lane& lane, bool arrived);
  [[nodiscard]] std::uint64_t multiply(std::uint64_t a, std::uint64_t b) const;

  Group group_;
  std::uint64_t modulus_;
  std::uint64_t inverse_;  // of p, modulo 2^64
  std::array<std::uint64_t, multipliers> elements_{};
  std::array<mpz_class, multipliers> a_, b_;
  std::uint64_t spacing_element_;
  mpz_class spacing_;
  // The item in hand
  std::int64_t next_walk_ = 0;
  std::uint64_t next_start_ = 0;
  mpz_class first_exponent_;
  std::vector<Point> by_walk_;  // those without an element did not arrive
  std::int64_t steps_ = 0;
};

}  // namespace gleaner::dlog
