// What a problem will cost and when it would be done, before anybody computes it. Pure.
//
// A hint says what an item costs by the other items of its problem; what a hint unit takes, only earlier
// problems of the same application tell: what was accepted of them, by the work that the cores which computed
// it could have done by their benchmarks. Of problems with the very same parameters that is worth about the
// same again; with other parameters a hint unit may be something else, which is what the interval says. The
// estimate is the geometric mean; the spread of its logarithm is that of the earlier problems, with a prior
// that counts as one more of them. [server/policy/POLICY.md, "Before it begins"]
#pragma once

#include <cstdint>
#include <span>

#include "server/policy/outlook/outlook.h"

namespace gleaner::policy {

// An earlier problem of the application.
struct Tried {
  double cost = 0;    // hint units that were accepted
  double mflop = 0;   // benchmark work of the cores that computed them, meanwhile
  bool same = false;  // the parameters and inputs are the same
};

// The cores that would be at it.
struct Cores {
  double mflops = 0;  // of all together, by benchmark
  std::int64_t count = 0;
  double share = 1;  // of their time that the problem would have among the others
};

struct Prospect {
  std::int64_t tried = 0;  // earlier problems that tell it
  bool same = false;       // these had the same parameters
  Forecast core_seconds;   // of the fleet's mean core; unknown without cores
  Forecast end;            // seconds from its start; no sooner than its longest item is computed
};
// `cost`: of the whole problem, `longest`: of its dearest item, in hint units.
[[nodiscard]] Prospect prospect(std::span<const Tried> tried, double cost, double longest,
                                const Cores& cores);

}  // namespace gleaner::policy
