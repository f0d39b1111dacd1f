// Walks modulo a number of any size: Montgomery's product on GMP's limbs, one walk after the other.
#pragma once

#include "apps/dlog/walk.h"

namespace gleaner::dlog {

class AnySize {
 public:
  explicit AnySize(const Group& group);
  [[nodiscard]] Points run(std::int64_t item, kit::ItemContext& context);

 private:
  using Limbs = std::vector<mp_limb_t>;
  [[nodiscard]] Limbs limbs_of(const mpz_class& element) const;  // in Montgomery form
  // to = a * b / 2^(64 limbs) modulo p (Montgomery 1985). `to` may be a or b.
  void multiply(Limbs& to, const Limbs& a, const Limbs& b);

  Group group_;
  std::size_t size_;
  Limbs modulus_;
  mp_limb_t negative_inverse_;  // of p, modulo 2^64
  Multipliers multipliers_;
  std::vector<Limbs> elements_;
  Limbs spacing_;
  Limbs product_;
};

}  // namespace gleaner::dlog
