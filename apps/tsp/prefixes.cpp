#include "apps/tsp/prefixes.h"

namespace gleaner::tsp {

std::uint64_t factorial(int n) {
  CHECK_TRUE(n >= 0 && n <= 20);
  std::uint64_t product = 1;
  for (int i = 2; i <= n; ++i) product *= static_cast<std::uint64_t>(i);
  return product;
}

std::int64_t count_prefixes(int cities, int depth) {
  std::int64_t count = 1;
  for (int i = 0; i < depth; ++i) count *= cities - 1 - i;
  return count;
}

Prefix prefix_of(const Matrix& matrix, int depth, std::int64_t index) {
  Prefix prefix;
  prefix.path.push_back(0);
  for (int city = 1; city < matrix.cities(); ++city) prefix.rest.push_back(city);
  std::int64_t below = count_prefixes(matrix.cities(), depth);
  for (int i = 0; i < depth; ++i) {
    below /= static_cast<std::int64_t>(prefix.rest.size());
    const auto chosen = prefix.rest.begin() + index / below;
    index %= below;
    prefix.length += matrix.at(prefix.path.back(), *chosen);
    prefix.path.push_back(*chosen);
    prefix.rest.erase(chosen);
  }
  return prefix;
}

}  // namespace gleaner::tsp
