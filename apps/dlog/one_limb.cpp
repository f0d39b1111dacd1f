#include "apps/dlog/one_limb.h"

#include <algorithm>

#include "apps/dlog/step.h"

namespace gleaner::dlog {
namespace {

constexpr std::size_t lanes = 8;
constexpr std::int64_t stride = 64;  // steps between looks at whether walks were patient enough

__extension__ using Wide = unsigned __int128;

// Montgomery 1985 with the positive inverse, so that any odd modulus below 2^64 will do.
inline std::uint64_t product(std::uint64_t a, std::uint64_t b, std::uint64_t modulus, std::uint64_t inverse) {
  const Wide wide = Wide{a} * b;
  const std::uint64_t factor = static_cast<std::uint64_t>(wide) * inverse;
  const auto high = static_cast<std::uint64_t>(wide >> 64);
  const auto excess = static_cast<std::uint64_t>((Wide{factor} * modulus) >> 64);
  const std::uint64_t difference = high - excess;
  return high < excess ? difference + modulus : difference;
}

}  // namespace

struct OneLimbWalks::Lane {
  std::uint64_t z = 0;
  std::int64_t walk = -1;  // -1: idle
  std::int64_t steps = 0;
  std::array<std::uint32_t, multipliers> used{};
};

OneLimbWalks::OneLimbWalks(const Group& group) : group_(group), modulus_(to_unsigned(group.p)) {
  CHECK_TRUE(group.limbs() == 1);
  inverse_ = modulus_;
  for (int i = 0; i < 5; ++i) inverse_ *= 2 - modulus_ * inverse_;
  Multipliers all = multipliers_of(group);
  for (std::size_t s = 0; s < multipliers; ++s)
    elements_[s] = to_unsigned(to_montgomery(group, all.element[s]));
  a_ = std::move(all.a);
  b_ = std::move(all.b);
  spacing_ = exponent_spacing(group);
  spacing_element_ = to_unsigned(to_montgomery(group, power(group.g, spacing_, group.p)));
}

std::uint64_t OneLimbWalks::multiply(std::uint64_t a, std::uint64_t b) const {
  return product(a, b, modulus_, inverse_);
}

bool OneLimbWalks::begin(Lane& lane) {
  lane.walk = -1;
  if (next_walk_ == group_.walks) return false;
  lane.walk = next_walk_++;
  lane.z = next_start_;
  lane.steps = 0;
  lane.used.fill(0);
  next_start_ = multiply(next_start_, spacing_element_);
  return true;
}

void OneLimbWalks::finish(const Lane& lane, bool arrived) {
  steps_ += lane.steps;
  if (!arrived) return;
  mpz_class a = first_exponent_ + spacing_ * from_unsigned(static_cast<std::uint64_t>(lane.walk));
  mpz_class b = 1;
  for (std::size_t s = 0; s < multipliers; ++s) {
    mpz_addmul_ui(a.get_mpz_t(), a_[s].get_mpz_t(), lane.used[s]);
    mpz_addmul_ui(b.get_mpz_t(), b_[s].get_mpz_t(), lane.used[s]);
  }
  Point& point = by_walk_[static_cast<std::size_t>(lane.walk)];
  point.walk = static_cast<std::uint32_t>(lane.walk);
  point.element = to_bytes(from_unsigned(lane.z), group_.element_bytes());
  point.a = to_bytes(modulo(a, group_.q), group_.exponent_bytes());
  point.b = to_bytes(modulo(b, group_.q), group_.exponent_bytes());
}

Points OneLimbWalks::run(std::int64_t item, kit::ItemContext& context) {
  const int bits = group_.distinguished_bits;
  const std::int64_t steps_max = patience << bits;
  first_exponent_ = first_exponent(group_, item);
  next_walk_ = 0;
  next_start_ = to_unsigned(
      to_montgomery(group_, modulo(group_.y * power(group_.g, first_exponent_, group_.p), group_.p)));
  by_walk_.assign(static_cast<std::size_t>(group_.walks), {});
  steps_ = 0;

  std::array<Lane, lanes> all;
  std::size_t busy = 0;
  for (Lane& lane : all) busy += begin(lane) ? 1 : 0;
  const std::uint64_t modulus = modulus_;
  const std::uint64_t inverse = inverse_;
  const std::uint64_t ends = ending_bits(bits);
  for (std::int64_t round = 0; busy > 0; ++round) {
    // Idle lanes walk on for nothing; nobody looks at them.
    for (std::size_t i = 0; i < lanes; ++i) {
      Lane& lane = all[i];
      const std::size_t s = multiplier_of(lane.z);
      ++lane.used[s];
      ++lane.steps;
      lane.z = product(lane.z, elements_[s], modulus, inverse);
      if ((lane.z & ends) != 0 && lane.steps < steps_max) continue;
      if (lane.walk < 0) continue;
      finish(lane, (lane.z & ends) == 0);
      if (!begin(lane)) --busy;
    }
    if (round % stride != 0) continue;
    context.progress(static_cast<double>(next_walk_) / static_cast<double>(group_.walks));
    if (context.abandoned()) return {};
  }
  Points points;
  points.steps = steps_;
  for (Point& point : by_walk_) {
    if (!point.element.empty()) points.points.push_back(std::move(point));
  }
  return points;
}

}  // namespace gleaner::dlog
