#include "client/policy/unit_state.h"

#include <set>
#include <string>

#include "shared/base/random.h"
#include "tests/catch.h"

namespace gleaner::client_policy {
namespace {

constexpr int states = 7;
constexpr int events = 9;

TEST_CASE("The legal steps are exactly these") {
  const std::set<std::string> legal{
      "granted prepare preparing",   "preparing prepared waiting", "preparing preparation failed granted",
      "waiting start running",       "running pause paused",       "paused resume running",
      "running lose kernel waiting", "paused lose kernel waiting", "granted stop committing",
      "preparing stop committing",   "waiting stop committing",    "running stop committing",
      "paused stop committing",      "committing close closed"};
  std::set<std::string> found;
  for (int s = 1; s <= states; ++s)
    for (int e = 1; e <= events; ++e)
      if (const auto next = after(static_cast<UnitState>(s), static_cast<UnitEvent>(e)))
        found.insert(std::string(name_of(static_cast<UnitState>(s))) + " " +
                     name_of(static_cast<UnitEvent>(e)) + " " + name_of(*next));
  CHECK(found == legal);
}

TEST_CASE("Over random events a unit never computes after it was stopped, and closed is final") {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    Random random(seed);
    UnitState state = UnitState::granted;
    bool stopped = false;
    for (int i = 0; i < 200; ++i) {
      const auto event = static_cast<UnitEvent>(random.between(1, events));
      const auto next = after(state, event);
      if (!next) continue;
      INFO("seed " << seed << " step " << i);
      CHECK(state != UnitState::closed);
      stopped = stopped || event == UnitEvent::stop;
      state = *next;
      if (stopped) CHECK((state == UnitState::committing || state == UnitState::closed));
    }
  }
}

}  // namespace
}  // namespace gleaner::client_policy
