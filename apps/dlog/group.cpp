#include "apps/dlog/group.h"

#include <algorithm>
#include <cmath>

namespace gleaner::dlog {
namespace {

// An item should take seconds; the whole problem should have some hundred items and some ten thousand points.
constexpr double item_steps_max = 1 << 27;
constexpr double items_wanted = 512;
constexpr double points_wanted_bits = 14;

std::uint64_t mixed(std::uint64_t seed, std::uint64_t index) {
  Random random(seed * 0x9e3779b97f4a7c15 + index);
  return random.next();
}

}  // namespace

double Group::expected_steps() const {
  constexpr double pi = 3.141592653589793;
  const double adding = std::sqrt(1 - 1.0 / multipliers);
  return std::sqrt(pi * q.get_d() / 2) / adding + std::ldexp(1.0, distinguished_bits);
}

void Group::choose_walks() {
  const double steps_bits = static_cast<double>(bits_of(q)) / 2;
  distinguished_bits = static_cast<int>(std::clamp(steps_bits - points_wanted_bits, 0.0, 31.0));
  const double cost = limbs() == 1 ? 1 : 8.0 * static_cast<double>(limbs() * limbs());
  const double steps = std::min(item_steps_max / cost, expected_steps() / items_wanted);
  walks = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ldexp(steps, -distinguished_bits)));
}

Bytes Group::text() const {
  return "p " + to_text(p) + "\nq " + to_text(q) + "\ng " + to_text(g) + "\ny " + to_text(y) + "\nseed " +
         std::to_string(seed) + "\nbits " + std::to_string(distinguished_bits) + "\nwalks " +
         std::to_string(walks) + "\n";
}

Result<Group> Group::from_text(std::string_view text) {
  Group group;
  const Error damaged{ErrorKind::invalid, "the input 'group' is damaged"};
  const auto next = [&text](std::string_view key) -> std::optional<mpz_class> {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (!line.starts_with(key) || line.size() < key.size() + 2 || line[key.size()] != ' ')
      return std::nullopt;
    return parse_number(line.substr(key.size() + 1));
  };
  for (const auto& [key, number] :
       {std::pair{"p", &group.p}, {"q", &group.q}, {"g", &group.g}, {"y", &group.y}}) {
    const auto value = next(key);
    if (!value) return damaged;
    *number = *value;
  }
  const auto seed = next("seed");
  const auto bits = next("bits");
  const auto walks = next("walks");
  if (!seed || !bits || !walks || !text.empty() || bits_of(*seed) > 63 || *bits > 31 || *walks < 1 ||
      bits_of(*walks) > 40)
    return damaged;
  const bool sound = group.p > 2 && mpz_odd_p(group.p.get_mpz_t()) != 0 &&
                     bits_of(group.p) <= modulus_bits_max && group.q > 1 &&
                     bits_of(group.q) <= order_bits_max && group.g > 0 && group.g < group.p && group.y > 0 &&
                     group.y < group.p;
  if (!sound) return damaged;
  group.seed = to_unsigned(*seed);
  group.distinguished_bits = static_cast<int>(to_unsigned(*bits));
  group.walks = static_cast<std::int64_t>(to_unsigned(*walks));
  return group;
}

Multipliers multipliers_of(const Group& group) {
  Multipliers all;
  Random random(mixed(group.seed, 1));
  for (std::size_t s = 0; s < multipliers; ++s) {
    all.a[s] = random_below(random, group.q);
    all.b[s] = random_below(random, group.q);
    all.element[s] = modulo(power(group.g, all.a[s], group.p) * power(group.y, all.b[s], group.p), group.p);
  }
  return all;
}

mpz_class first_exponent(const Group& group, std::int64_t item) {
  Random random(mixed(group.seed, 3 + static_cast<std::uint64_t>(item)));
  return random_below(random, group.q);
}

mpz_class exponent_spacing(const Group& group) {
  Random random(mixed(group.seed, 2));
  return random_below(random, group.q);
}

mpz_class to_montgomery(const Group& group, const mpz_class& element) {
  return modulo(mpz_class(element << (64 * group.limbs())), group.p);
}

}  // namespace gleaner::dlog
