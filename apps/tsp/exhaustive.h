// Every tour with a given beginning is visited: its length is computed, compared and summed. Nothing is
// pruned; lengths of beginnings and of the last four legs are shared between the tours that have them. Tours
// run from city 0. With `half`, only tours whose first city after 0 is below the last one are visited: of a
// symmetric matrix the others are their reversals. Pure functions; thread-safe.
#pragma once

#include "apps/kit/cpu_features.h"
#include "apps/kit/kernel.h"
#include "apps/tsp/matrix.h"
#include "apps/tsp/outcome.h"
#include "apps/tsp/prefixes.h"

namespace gleaner::tsp {

inline constexpr int rest_max = 13;  // cities after the beginning

// An abandoned item's outcome is worth nothing. REQUIRES: prefix.rest.size() <= rest_max.
[[nodiscard]] Outcome visit_all(const Matrix& matrix, const Prefix& prefix, bool half, kit::CpuLevel level,
                                kit::ItemContext& context);
// The number of tours and the sum of their lengths, by counting how often each leg occurs: what visit_all()
// must say. REQUIRES: the prefix has a city after 0 if `half`.
[[nodiscard]] Outcome expected_totals(const Matrix& matrix, const Prefix& prefix, bool half);

// The same of all tours: each leg is in (n - 2)! of the (n - 1)!.
[[nodiscard]] Outcome whole_totals(const Matrix& matrix, bool half);

// ---- Between visit_all() and its variants (visitor_*.cpp)

inline constexpr int group_tours = 24;  // orders of four cities
inline constexpr int row = 16;          // places of a row of distances

// The cities of the rest are 0, 1, … here.
struct Work {
  int cities;                            // of the rest: 6 to rest_max
  std::int32_t distance[rest_max][row];  // between them
  std::int32_t from_prefix[row];         // from the beginning's last city
  const std::int32_t* groups;            // of city c and the set of four with rank r: c * sets + r
  const std::uint16_t* rank;             // by set, as a mask
  int sets;
  std::uint32_t last_allowed;  // mask of cities that may be last (all, unless half)
  std::int32_t prefix_length;
  // Asked now and then, with the tours visited so far; false: give up.
  bool (*wanted)(void* context, std::uint64_t visited);
  void* context;
};
struct Best {
  std::uint64_t visited;
  std::uint64_t sum;
  std::int32_t length;  // std::int32_t's highest if there is none
  std::uint8_t tour[rest_max];
};

// The tours of a group, by last city (the highest first), then in lexicographic order: ranks within the set.
struct GroupOrder {
  std::uint8_t place[group_tours][4] = {};
  constexpr GroupOrder() {
    int tour = 0;
    for (int last = 3; last >= 0; --last) {
      for (int a = 0; a < 4; ++a) {
        for (int b = 0; b < 4; ++b) {
          const int c = 6 - last - a - b;
          if (a == last || b == last || a == b) continue;
          place[tour][0] = static_cast<std::uint8_t>(a);
          place[tour][1] = static_cast<std::uint8_t>(b);
          place[tour][2] = static_cast<std::uint8_t>(c);
          place[tour++][3] = static_cast<std::uint8_t>(last);
        }
      }
    }
  }
};
inline constexpr GroupOrder group_order;

namespace baseline {
void visit(const Work& work, Best& best);
}
namespace avx2 {
void visit(const Work& work, Best& best);
}

}  // namespace gleaner::tsp
