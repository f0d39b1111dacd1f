#include "apps/dlog/any_size.h"

#include "apps/dlog/step.h"

namespace gleaner::dlog {

static_assert(GMP_NUMB_BITS == 64);

AnySize::AnySize(const Group& group)
    : group_(group), size_(group.limbs()), multipliers_(multipliers_of(group)), product_(2 * size_ + 1) {
  modulus_.resize(size_);
  mpz_export(modulus_.data(), nullptr, -1, 8, 0, 0, group.p.get_mpz_t());
  mp_limb_t inverse = modulus_[0];  // Newton: right to 3 bits, then 6, 12, 24, 48, 96
  for (int i = 0; i < 5; ++i) inverse *= 2 - modulus_[0] * inverse;
  negative_inverse_ = -inverse;
  for (const mpz_class& element : multipliers_.element) elements_.push_back(limbs_of(element));
  spacing_ = limbs_of(power(group.g, exponent_spacing(group), group.p));
}

AnySize::Limbs AnySize::limbs_of(const mpz_class& element) const {
  Limbs limbs(size_);
  const mpz_class form = to_montgomery(group_, element);
  mpz_export(limbs.data(), nullptr, -1, 8, 0, 0, form.get_mpz_t());
  return limbs;
}

void AnySize::multiply(Limbs& to, const Limbs& a, const Limbs& b) {
  const auto n = static_cast<mp_size_t>(size_);
  mp_limb_t* t = product_.data();
  mpn_mul_n(t, a.data(), b.data(), n);
  mp_limb_t carry = 0;
  for (std::size_t i = 0; i < size_; ++i) {
    const mp_limb_t high = mpn_addmul_1(t + i, modulus_.data(), n, t[i] * negative_inverse_);
    const mp_limb_t sum = t[i + size_] + high;
    const mp_limb_t first = sum < high ? 1 : 0;
    t[i + size_] = sum + carry;
    carry = first + (t[i + size_] < carry ? 1 : 0);
  }
  if (carry != 0 || mpn_cmp(t + size_, modulus_.data(), n) >= 0) {
    mpn_sub_n(to.data(), t + size_, modulus_.data(), n);
  } else {
    std::copy_n(t + size_, size_, to.begin());
  }
}

Points AnySize::run(std::int64_t item, kit::ItemContext& context) {
  const std::int64_t steps_max = patience << group_.distinguished_bits;
  const mpz_class spacing = exponent_spacing(group_);
  mpz_class exponent = first_exponent(group_, item);
  Limbs start = limbs_of(modulo(group_.y * power(group_.g, exponent, group_.p), group_.p));
  Points points;
  Limbs z;
  for (std::int64_t walk = 0; walk < group_.walks; ++walk) {
    std::array<std::uint32_t, multipliers> used{};
    z = start;
    std::int64_t steps = 0;
    do {
      const std::size_t s = multiplier_of(z[0]);
      ++used[s];
      multiply(z, z, elements_[s]);
      if (++steps % 4096 == 0) {
        context.progress(static_cast<double>(walk) / static_cast<double>(group_.walks));
        if (context.abandoned()) return points;
      }
    } while (!distinguished(z[0], group_.distinguished_bits) && steps < steps_max);
    points.steps += steps;
    if (distinguished(z[0], group_.distinguished_bits)) {
      mpz_class a = exponent;
      mpz_class b = 1;
      for (std::size_t s = 0; s < multipliers; ++s) {
        a += used[s] * multipliers_.a[s];
        b += used[s] * multipliers_.b[s];
      }
      mpz_class element;
      mpz_import(element.get_mpz_t(), size_, -1, 8, 0, 0, z.data());
      points.points.push_back({static_cast<std::uint32_t>(walk), to_bytes(element, group_.element_bytes()),
                               to_bytes(modulo(a, group_.q), group_.exponent_bytes()),
                               to_bytes(modulo(b, group_.q), group_.exponent_bytes())});
    }
    multiply(start, start, spacing_);
    exponent = modulo(exponent + spacing, group_.q);
    context.progress(static_cast<double>(walk) / static_cast<double>(group_.walks));
    if (context.abandoned()) return points;
  }
  return points;
}

}  // namespace gleaner::dlog
