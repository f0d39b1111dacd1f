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

// When each problem would end if the delivered speed were divided at every moment among those of the highest
// priority that are there, by their weights (generalised processor sharing); the last is the bound of all
// together.
[[nodiscard]] std::vector<double> fair_ends(const GridInstance& instance);

// The bound of an instance with one problem that is there from the beginning.
[[nodiscard]] double ideal_makespan(const GridInstance& instance);

}  // namespace gleaner::simulator
