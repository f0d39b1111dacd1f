// The walk over all orders of the rest, the last four cities in lanes. Included by the variants only, each
// compiled for another processor: everything is in an unnamed namespace.
#pragma once

#include <cstring>

#include "apps/tsp/exhaustive.h"

namespace gleaner::tsp {
namespace {  // NOLINT(google-build-namespaces): see above

constexpr std::int32_t none = 0x7fffffff;

// Lanes of the first 6k tours: those whose last city is one of the k highest.
struct LaneMasks {
  alignas(64) std::int32_t lanes[5][group_tours] = {};
  constexpr LaneMasks() {
    for (int k = 0; k <= 4; ++k) {
      for (int i = 0; i < group_tours; ++i) lanes[k][i] = i < 6 * k ? -1 : 0;
    }
  }
};
constexpr LaneMasks lane_masks;

template <class V>
inline __attribute__((always_inline)) V load(const std::int32_t* from) {
  V lanes;
  std::memcpy(&lanes, from, sizeof lanes);
  return lanes;
}

template <class V, class U, bool half>
class Visitor {
 public:
  Visitor(const Work& work, Best& best) : work_(work), best_(best) {}

  void visit(std::uint32_t rest, const std::int32_t* from, std::int32_t length, int depth) {
    const int left = __builtin_popcount(rest);
    if (half && (rest & work_.last_allowed) == 0) return;
    if (left == 6) {
      leaf(rest, from, length, depth);
      return;
    }
    if (left == 9 && !work_.wanted(work_.context, best_.visited)) given_up_ = true;
    for (std::uint32_t open = rest; open != 0 && !given_up_; open &= open - 1) {
      const int city = __builtin_ctz(open);
      best_path_[depth] = static_cast<std::uint8_t>(city);
      visit(rest & ~(1U << city), work_.distance[city], length + from[city], depth + 1);
    }
  }

 private:
  static constexpr int lanes = sizeof(V) / sizeof(std::int32_t);
  static constexpr int vectors = group_tours / lanes;

  const std::int32_t* group(int city, std::uint32_t set) const {
    return work_.groups + (city * work_.sets + work_.rank[set]) * group_tours;
  }
  int lanes_allowed(std::uint32_t set) const { return __builtin_popcount(set & work_.last_allowed); }

  // All orders of six cities: 30 groups.
  void leaf(std::uint32_t rest, const std::int32_t* from, std::int32_t length, int depth) {
    V least = V{} + none;
    U sum = U{};
    for (std::uint32_t first = rest; first != 0; first &= first - 1) {
      const int a = __builtin_ctz(first);
      const std::uint32_t five = rest & ~(1U << a);
      for (std::uint32_t second = five; second != 0; second &= second - 1) {
        const int b = __builtin_ctz(second);
        const std::uint32_t four = five & ~(1U << b);
        const std::int32_t base = length + from[a] + work_.distance[a][b];
        const std::int32_t* tails = group(b, four);
        if constexpr (half) {
          const int allowed = lanes_allowed(four);
          const std::int32_t* masks = lane_masks.lanes[allowed];
          for (int i = 0; i < vectors; ++i) {
            const V mask = load<V>(masks + i * lanes);
            const V tours = load<V>(tails + i * lanes) + base;
            const V counted = (tours & mask) | (~mask & none);
            least = counted < least ? counted : least;
            sum += reinterpret_cast<U>(tours & mask);
          }
          best_.visited += static_cast<std::uint64_t>(6 * allowed);
        } else {
          for (int i = 0; i < vectors; ++i) {
            const V tours = load<V>(tails + i * lanes) + base;
            least = tours < least ? tours : least;
            sum += reinterpret_cast<U>(tours);
          }
          best_.visited += group_tours;
        }
      }
    }
    // A lane has added at most 180 tours: no overflow, by distance_max.
    std::uint32_t sums[lanes];
    std::memcpy(sums, &sum, sizeof sums);
    std::int32_t leasts[lanes];
    std::memcpy(leasts, &least, sizeof leasts);
    std::int32_t shortest = none;
    for (int i = 0; i < lanes; ++i) {
      best_.sum += sums[i];
      shortest = leasts[i] < shortest ? leasts[i] : shortest;
    }
    if (shortest < best_.length) record(rest, from, length, depth, shortest);
  }

  // Finds the lexicographically first tour of that length in a leaf that has one. Rare.
  void record(std::uint32_t rest, const std::int32_t* from, std::int32_t length, int depth,
              std::int32_t shortest) {
    best_.length = shortest;
    for (std::uint32_t first = rest; first != 0; first &= first - 1) {
      const int a = __builtin_ctz(first);
      const std::uint32_t five = rest & ~(1U << a);
      for (std::uint32_t second = five; second != 0; second &= second - 1) {
        const int b = __builtin_ctz(second);
        const std::uint32_t four = five & ~(1U << b);
        const std::int32_t base = length + from[a] + work_.distance[a][b];
        if (record_group(base, b, four, shortest, depth + 2)) {
          for (int i = 0; i < depth; ++i) best_.tour[i] = best_path_[i];
          best_.tour[depth] = static_cast<std::uint8_t>(a);
          best_.tour[depth + 1] = static_cast<std::uint8_t>(b);
          return;
        }
      }
    }
  }

  bool record_group(std::int32_t base, int city, std::uint32_t set, std::int32_t shortest, int depth) {
    const std::int32_t* tails = group(city, set);
    std::uint8_t members[4];
    int count = 0;
    for (std::uint32_t open = set; open != 0; open &= open - 1)
      members[count++] = static_cast<std::uint8_t>(__builtin_ctz(open));
    const int tours = half ? 6 * lanes_allowed(set) : group_tours;
    bool found = false;
    for (int i = 0; i < tours; ++i) {
      if (base + tails[i] != shortest) continue;
      std::uint8_t tour[4];
      for (int j = 0; j < 4; ++j) tour[j] = members[group_order.place[i][j]];
      if (!found || std::memcmp(tour, best_.tour + depth, sizeof tour) < 0)
        std::memcpy(best_.tour + depth, tour, sizeof tour);
      found = true;
    }
    return found;
  }

  const Work& work_;
  Best& best_;
  std::uint8_t best_path_[rest_max] = {};
  bool given_up_ = false;
};

template <class V, class U>
void visit_with(const Work& work, Best& best) {
  const std::uint32_t all = (1U << work.cities) - 1;
  if (work.last_allowed == all) {
    Visitor<V, U, false>(work, best).visit(all, work.from_prefix, work.prefix_length, 0);
  } else {
    Visitor<V, U, true>(work, best).visit(all, work.from_prefix, work.prefix_length, 0);
  }
}

}  // namespace
}  // namespace gleaner::tsp
