// Whose opinion counts for how much, and of whom it is worth asking for another. Pure; not thread-safe.
#pragma once

#include <vector>

#include "server/policy/trust/parties.h"
#include "server/policy/trust/reputation.h"
#include "server/policy/trust/verdict.h"

namespace gleaner::policy {

// The facts of one problem's verdicts. Refers to its arguments.
struct Witnesses {
  const Reputation& reputation;
  const Parties& parties;
  ApplicationId application;
  int quorum = 1;  // above 1 known hosts, too, count once a party
  Timestamp now{};

  // Without its segment.
  [[nodiscard]] Opinion of(HostId host) const;
  // Others whose opinion would add nothing to those of `asked`, since they are of the same parties. The
  // project's own hosts always add. Ascending.
  [[nodiscard]] std::vector<HostId> partners(const std::vector<HostId>& asked) const;
  // Of how many parties the hosts' opinions would be, if they agreed.
  [[nodiscard]] std::size_t parties_of(const std::vector<HostId>& hosts) const;
};

}  // namespace gleaner::policy
