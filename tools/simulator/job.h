// The jobs of tools/simulator/MODEL.md: item-cost profiles with the hints that the
// server gets to see, scaled so that a population's fluid bound is exactly the wanted time.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "shared/base/result.h"
#include "tools/simulator/grid.h"

namespace gleaner::simulator {

enum class Profile : int {
  uniform = 1,
  hump = 2,   // a gaussian, 10:1
  heavy = 3,  // lognormal 1.3, hints right within 5 %
  wild = 4,   // lognormal 1.5, hints all equal
  tail = 5,   // 12 items a slot, 2 % of them 4 to 6 times longer
};
inline constexpr Profile profiles[] = {Profile::uniform, Profile::hump, Profile::heavy, Profile::wild,
                                       Profile::tail};
[[nodiscard]] const char* name_of(Profile profile);
[[nodiscard]] Result<Profile> profile_from(std::string_view text);

// Relative costs of `items` items (empty: all 1) and the hints given for them (empty: all equal).
struct Work {
  std::vector<double> costs, hints;
};
[[nodiscard]] Work make_work(Profile profile, std::int64_t items, std::uint64_t seed);

struct JobSetup {
  Profile profile = Profile::uniform;
  double ideal_seconds = 7200;
  double item_seconds = 5;        // mean, on a slot of unit speed (tail: follows from its 12 items a slot)
  double transfer_share = 0.005;  // of a mean item on unit speed, per item
  std::uint64_t seed = 1;
  Work given = {};  // instead of a profile's, if it has costs
};

// Gives the instance's hosts a job: items, costs, hints, transfer, and speeds in mean items per second. With
// items = 0 its fluid bound is `ideal_seconds`; else it has that many items of `item_seconds` each, and the
// bound is worked out. Errors: invalid, if the hosts deliver nothing in that time, far too much, or never
// all; if there are costs, but not one an item.
[[nodiscard]] Status set_job(const JobSetup& setup, std::int64_t items, GridInstance& instance);

// Another problem beside the first; its `ideal_seconds` are those that it would take alone. Then the
// instance's are the sum, which no bound is: fair_ends() says when all can end. REQUIRES: set_job() came
// before. Errors: as set_job's.
[[nodiscard]] Status add_job(const JobSetup& setup, std::int64_t items, GridInstance& instance);

}  // namespace gleaner::simulator
