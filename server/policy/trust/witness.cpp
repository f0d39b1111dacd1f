#include "server/policy/trust/witness.h"

#include <set>

namespace gleaner::policy {

Opinion Witnesses::of(HostId host) const {
  Opinion opinion;
  opinion.host = host;
  opinion.reliability = reputation.reliability(host, application, now);
  opinion.own = reputation.is_own(host);
  opinion.party = parties.party(host);
  opinion.known = quorum <= 1 && reputation.is_known(host, application, now);
  return opinion;
}

std::vector<HostId> Witnesses::partners(const std::vector<HostId>& asked) const {
  std::set<HostId> all;
  for (const HostId host : asked)
    for (const HostId member : parties.members(parties.party(host)))
      if (!reputation.is_own(member) && !of(member).known) all.insert(member);
  for (const HostId host : asked) all.erase(host);
  return {all.begin(), all.end()};
}

std::size_t Witnesses::parties_of(const std::vector<HostId>& hosts) const {
  std::vector<Opinion> opinions;
  for (const HostId host : hosts) opinions.push_back(of(host));
  return count_parties(opinions);
}

}  // namespace gleaner::policy
