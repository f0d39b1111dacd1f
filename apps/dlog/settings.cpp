#include "apps/dlog/settings.h"

#include <algorithm>

namespace gleaner::dlog {
namespace {

constexpr std::int64_t seed_max = std::int64_t{1} << 53;

mpz_class with_top_bit(Random& random, int bits) {
  const mpz_class high = mpz_class(1) << static_cast<unsigned>(bits - 1);
  return mpz_class(high + random_below(random, high));
}

mpz_class number(kit::Parameters& parameters, const std::string& key,
                 std::optional<std::string> default_value) {
  const bool optional = default_value.has_value();
  const std::string text = parameters.text(key, 2000, std::move(default_value));
  if (text.empty() && (optional || !parameters.has(key))) return 0;
  if (const auto value = parse_number(text)) return *value;
  parameters.mistake(key, "must be a whole number as text, decimal or hexadecimal after 0x");
  return 0;
}

void check_group(kit::Parameters& parameters, Group& group, bool order_given) {
  if (group.p < 5 || bits_of(group.p) > modulus_bits_max || !is_prime(group.p)) {
    parameters.mistake("p", "must be a prime from 5 to 2^" + std::to_string(modulus_bits_max));
    return;
  }
  const mpz_class order = (group.p - 1) / 2;
  if (!order_given) group.q = order;
  if (!is_prime(group.q)) {
    parameters.mistake("q", order_given
                                ? "must be prime: the order of g"
                                : "p - 1 is not twice a prime: give the prime order of g; a logarithm in a "
                                  "group of smooth order needs no grid (Pohlig and Hellman 1978)");
    return;
  }
  if (bits_of(group.q) > order_bits_max) {
    parameters.mistake("q", "at most " + std::to_string(order_bits_max) +
                                " bits can be thought of: the square root of q is the work");
  }
  if (group.g <= 1 || group.g >= group.p || power(group.g, group.q, group.p) != 1) {
    parameters.mistake("g", "must be from 2 to p - 1 and of order q: g^q is not 1 modulo p");
  } else if (group.y < 1 || group.y >= group.p || power(group.y, group.q, group.p) != 1) {
    parameters.mistake("y", "must be from 1 to p - 1 and a power of g: y^q is not 1 modulo p");
  }
}

}  // namespace

Group made_up_group(int bits, int order_bits, std::uint64_t seed) {
  CHECK_TRUE(order_bits >= 3 && order_bits < bits);
  Random random(seed);
  Group group;
  while (group.p == 0) {
    mpz_class q = with_top_bit(random, order_bits) | 1;
    if (!is_prime(q)) continue;
    if (bits == order_bits + 1) {
      if (is_prime(2 * q + 1)) group.p = 2 * q + 1;
    } else {
      // p = k q + 1 of the wanted size, k even.
      for (int tries = 0; tries < 4 * bits && group.p == 0; ++tries) {
        mpz_class p = with_top_bit(random, bits);
        p += 1 - modulo(p, 2 * q);
        if (bits_of(p) == static_cast<std::size_t>(bits) && is_prime(p)) group.p = p;
      }
    }
    group.q = std::move(q);
  }
  for (mpz_class h = 2; group.g <= 1; ++h) group.g = power(h, (group.p - 1) / group.q, group.p);
  group.y = power(group.g, random_below(random, group.q), group.p);
  return group;
}

Result<Group> read_settings(const kit::Problem& problem) {
  TRY_ASSIGN(kit::Parameters parameters, problem.parameters());
  const std::int64_t bits = parameters.integer("random_bits", {0, modulus_bits_max}, 0);
  const std::int64_t order_bits =
      parameters.integer("random_order_bits", {3, order_bits_max}, std::max<std::int64_t>(bits - 1, 3));
  const auto seed = static_cast<std::uint64_t>(parameters.integer("seed", {0, seed_max}, 1));
  const bool random = bits > 0;
  const std::optional<std::string> none = random ? std::optional<std::string>("") : std::nullopt;
  Group group;
  group.p = number(parameters, "p", none);
  group.g = number(parameters, "g", none);
  group.y = number(parameters, "y", none);
  group.q = number(parameters, "q", "");
  if (random) {
    for (const char* key : {"p", "q", "g", "y"}) {
      if (parameters.has(key))
        parameters.mistake(key, "is made up if random_bits is set: leave one of them out");
    }
    if (bits < 5 || order_bits >= bits || order_bits > static_cast<std::int64_t>(order_bits_max))
      parameters.mistake("random_bits", "must be at least 5 and above random_order_bits, which is at most " +
                                            std::to_string(order_bits_max));
  } else if (parameters.has("random_order_bits")) {
    parameters.mistake("random_order_bits", "is for random_bits only: leave it out");
  } else if (parameters.has("p") && parameters.has("g") && parameters.has("y")) {
    check_group(parameters, group, parameters.has("q"));
  }
  const bool choose_bits = !parameters.has("distinguished_bits");
  const bool choose_walks = !parameters.has("item_walks");
  const std::int64_t distinguished_bits = parameters.integer("distinguished_bits", {0, 31}, 0);
  const std::int64_t walks = parameters.integer("item_walks", {1, 1 << 20}, 1);
  TRY(parameters.finish());
  if (random) group = made_up_group(static_cast<int>(bits), static_cast<int>(order_bits), seed);
  group.seed = seed;
  group.choose_walks();
  // Longer walks would hardly meet a distinguished element among all there are.
  if (const auto most = static_cast<std::int64_t>(bits_of(group.q) / 2); distinguished_bits > most) {
    return Error{ErrorKind::invalid,
                 "distinguished_bits: at most " + std::to_string(most) + " for an order of this size"};
  }
  if (!choose_bits) group.distinguished_bits = static_cast<int>(distinguished_bits);
  if (!choose_walks) group.walks = walks;
  return group;
}

}  // namespace gleaner::dlog
