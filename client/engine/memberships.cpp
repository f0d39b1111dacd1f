#include "client/engine/memberships.h"

#include <algorithm>

namespace gleaner::engine {

Membership& Memberships::of(const Unit& unit) const {
  const auto found =
      std::find_if(begin(), end(), [&unit](const auto& project) { return project->holds(unit); });
  CHECK_TRUE(found != end());
  return **found;
}

bool Memberships::all_revoked() const {
  return std::all_of(begin(), end(),
                     [](const auto& project) { return project->standing() == Standing::revoked; });
}

bool Memberships::nothing_in_hand() const {
  return std::all_of(begin(), end(), [](const auto& project) { return project->units().empty(); });
}

}  // namespace gleaner::engine
