// Branch and bound: the best tour with a given beginning, exactly. A symmetric matrix is bounded by minimum
// spanning trees under node potentials (Held and Karp 1970, 1971), an asymmetric one by the cheapest legs out
// of and into the cities left. Pure functions; thread-safe.
#pragma once

#include "apps/kit/kernel.h"
#include "apps/tsp/matrix.h"
#include "apps/tsp/outcome.h"
#include "apps/tsp/prefixes.h"

namespace gleaner::tsp {

inline constexpr std::int64_t bound_scale = 16;  // potentials and bounds are in sixteenths

struct Bounds {
  std::int64_t upper = 0;                // the length of a tour that is known
  std::vector<std::int32_t> potentials;  // one a city; any values are right, good ones prune more
};
[[nodiscard]] Bytes encode(const Bounds& bounds);
[[nodiscard]] Result<Bounds> decode_bounds(std::string_view bytes, int cities);

// A good tour (nearest neighbours, then 2-opt and moves of up to three cities), and potentials by subgradient
// ascent. Deterministic on one machine; only the manager calls it.
[[nodiscard]] Bounds find_bounds(const Matrix& matrix);

// A number that scaled lengths of tours with this beginning cannot be below.
[[nodiscard]] std::int64_t scaled_lower_bound(const Matrix& matrix, const Bounds& bounds,
                                              const Prefix& prefix);

// The lexicographically first of the shortest tours with this beginning, if they are not longer than `upper`.
// Of a symmetric matrix, tours whose first city after 0 is above the last one do not count: their reversals
// do.
[[nodiscard]] Outcome branch_and_bound(const Matrix& matrix, const Bounds& bounds, const Prefix& prefix,
                                       kit::ItemContext& context);

}  // namespace gleaner::tsp
