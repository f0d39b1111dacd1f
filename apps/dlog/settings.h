// The parameters of a discrete-logarithm problem: the numbers as text, or how large they should be made up.
#pragma once

#include "apps/dlog/group.h"
#include "apps/kit/problem.h"

namespace gleaner::dlog {

// A group of known order with a random y; the same everywhere for a seed. `order_bits` of q, `bits` of p;
// p = 2q + 1 if they differ by one. REQUIRES: 3 <= order_bits < bits.
[[nodiscard]] Group made_up_group(int bits, int order_bits, std::uint64_t seed);

// Checks that p and q are prime, that g has order q and that y is a power of g. invalid with every mistake
// named.
[[nodiscard]] Result<Group> read_settings(const kit::Problem& problem);

}  // namespace gleaner::dlog
