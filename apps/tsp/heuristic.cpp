// The bounds that branch and bound starts from.
#include <algorithm>
#include <cmath>
#include <limits>

#include "apps/tsp/branch.h"

namespace gleaner::tsp {
namespace {

constexpr int ascent_steps = 300;
constexpr int segment_max = 3;

std::vector<int> nearest_neighbours(const Matrix& matrix, int start) {
  std::vector<int> tour{start};
  std::vector<bool> seen(static_cast<std::size_t>(matrix.cities()));
  seen[static_cast<std::size_t>(start)] = true;
  while (static_cast<int>(tour.size()) < matrix.cities()) {
    int next = -1;
    for (int city = 0; city < matrix.cities(); ++city) {
      if (!seen[static_cast<std::size_t>(city)] &&
          (next < 0 || matrix.at(tour.back(), city) < matrix.at(tour.back(), next)))
        next = city;
    }
    seen[static_cast<std::size_t>(next)] = true;
    tour.push_back(next);
  }
  return tour;
}

// The first change that shortens the tour: a part reversed, or up to three cities moved elsewhere.
bool improve(const Matrix& matrix, std::vector<int>& tour) {
  const std::int64_t length = matrix.length(tour);
  const std::size_t count = tour.size();
  std::vector<int> changed;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = i + 2; j <= count; ++j) {
      changed = tour;
      std::reverse(changed.begin() + static_cast<std::ptrdiff_t>(i),
                   changed.begin() + static_cast<std::ptrdiff_t>(j));
      if (matrix.length(changed) < length) {
        tour = changed;
        return true;
      }
    }
    for (std::size_t size = 1; size <= segment_max && i + size < count; ++size) {
      std::vector<int> rest(tour);
      const auto first = rest.begin() + static_cast<std::ptrdiff_t>(i);
      const std::vector<int> segment(first, first + static_cast<std::ptrdiff_t>(size));
      rest.erase(first, first + static_cast<std::ptrdiff_t>(size));
      for (std::size_t at = 0; at <= rest.size(); ++at) {
        changed = rest;
        changed.insert(changed.begin() + static_cast<std::ptrdiff_t>(at), segment.begin(), segment.end());
        if (matrix.length(changed) < length) {
          tour = changed;
          return true;
        }
      }
    }
  }
  return false;
}

std::int64_t good_length(const Matrix& matrix) {
  std::int64_t best = std::numeric_limits<std::int64_t>::max();
  for (int start = 0; start < matrix.cities(); ++start) {
    std::vector<int> tour = nearest_neighbours(matrix, start);
    while (improve(matrix, tour)) continue;
    best = std::min(best, matrix.length(tour));
  }
  return best;
}

// The minimum 1-tree under the potentials: its length, and each city's legs in it.
double one_tree(const Matrix& matrix, const std::vector<double>& potentials, std::vector<int>& legs) {
  const int count = matrix.cities();
  const auto cost = [&](int a, int b) {
    return matrix.at(a, b) + potentials[static_cast<std::size_t>(a)] +
           potentials[static_cast<std::size_t>(b)];
  };
  legs.assign(static_cast<std::size_t>(count), 0);
  std::vector<int> parent(static_cast<std::size_t>(count), 1);
  std::vector<bool> joined(static_cast<std::size_t>(count));
  joined[0] = joined[1] = true;
  double sum = 0;
  for (int round = 2; round < count; ++round) {
    int next = -1;
    for (int city = 2; city < count; ++city) {
      const auto at = static_cast<std::size_t>(city);
      if (!joined[at] &&
          (next < 0 || cost(parent[at], city) < cost(parent[static_cast<std::size_t>(next)], next)))
        next = city;
    }
    const int from = parent[static_cast<std::size_t>(next)];
    joined[static_cast<std::size_t>(next)] = true;
    sum += cost(from, next);
    ++legs[static_cast<std::size_t>(from)];
    ++legs[static_cast<std::size_t>(next)];
    for (int city = 2; city < count; ++city) {
      const auto at = static_cast<std::size_t>(city);
      if (!joined[at] && cost(next, city) < cost(parent[at], city)) parent[at] = next;
    }
  }
  std::vector<int> order;
  for (int city = 1; city < count; ++city) order.push_back(city);
  std::sort(order.begin(), order.end(), [&](int a, int b) { return cost(0, a) < cost(0, b); });
  for (int i = 0; i < 2; ++i) {
    sum += cost(0, order[static_cast<std::size_t>(i)]);
    ++legs[0];
    ++legs[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])];
  }
  for (const double potential : potentials) sum -= 2 * potential;
  return sum;
}

}  // namespace

Bounds find_bounds(const Matrix& matrix) {
  const auto count = static_cast<std::size_t>(matrix.cities());
  Bounds bounds{count > 1 ? good_length(matrix) : 0, std::vector<std::int32_t>(count)};
  if (count < 4 || !matrix.symmetric()) return bounds;
  std::vector<double> potentials(count);
  std::vector<double> best = potentials;
  std::vector<int> legs;
  double highest = one_tree(matrix, potentials, legs);
  double step = 2;
  for (int i = 0; i < ascent_steps; ++i) {
    const double length = one_tree(matrix, potentials, legs);
    if (length > highest) {
      highest = length;
      best = potentials;
    } else {
      step *= 0.97;
    }
    double deviation = 0;
    for (const int number : legs) deviation += (number - 2) * (number - 2);
    if (deviation == 0) break;
    const double pace = step * std::max(1.0, static_cast<double>(bounds.upper) - length) / deviation;
    for (std::size_t city = 0; city < count; ++city) potentials[city] += pace * (legs[city] - 2);
  }
  for (std::size_t city = 0; city < count; ++city) {
    const double limit = static_cast<double>(distance_max);
    bounds.potentials[city] = static_cast<std::int32_t>(
        std::llround(static_cast<double>(bound_scale) * std::clamp(best[city], -limit, limit)));
  }
  return bounds;
}

}  // namespace gleaner::tsp
