// The fluid bound ("ideal"): the earliest time by which the speed delivered by all hosts, as their events
// have it, covers all work. It needs divisible work and foresight; nothing can be faster.
#pragma once

#include <vector>

#include "tools/simulator/grid.h"

namespace gleaner::simulator {

struct Delivered {
  double work = 0;   // by then
  double speed = 0;  // at that time
};

// By all slots of the hosts in [0, until].
[[nodiscard]] Delivered delivered(const std::vector<GridHost>& hosts, double until);

// When `work` is delivered; infinite if that takes more than 10 years or the hosts can never do it.
[[nodiscard]] double fluid_time(const std::vector<GridHost>& hosts, double work);

// The bound of an instance.
[[nodiscard]] double ideal_makespan(const GridInstance& instance);

}  // namespace gleaner::simulator
