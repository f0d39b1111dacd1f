// Which hosts may have arranged their answers with one another: a party is the hosts of one owner or of one
// network, and of whatever these share with others. Opinions of one party count once (witness.h): under
// quorum:N all of them, under every other policy those of newcomers.
//
// An owner is a code that lets only so many hosts join: that is given to somebody. Codes without a limit, the
// public ones, say nothing of owners. A network is an IPv4 address or an IPv6 /64. A host of which neither is
// known stands for itself.
//
// Parties only grow while the process runs: a host that moved belongs to both places. Cost: O(log n) a call;
// joining two parties, the smaller one. Pure; not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "shared/base/ids.h"

namespace gleaner::policy {

class Parties {
 public:
  // Empty: not known. Again for the same host: it was seen there, too.
  void add(HostId host, const std::string& owner, const std::string& network);
  // The number of a host's party: that of its first member; the host's own for one that was never added.
  [[nodiscard]] std::int64_t party(HostId host) const;
  // Ascending. `party`: as party() says it.
  [[nodiscard]] std::vector<HostId> members(std::int64_t party) const;

 private:
  void join(HostId a, HostId b);

  std::int64_t number_of(HostId host);  // made if need be

  // Of parties of more than one; by numbers of their own: of one of their members.
  std::map<HostId, std::int64_t> party_;
  std::map<std::int64_t, std::set<HostId>> members_;  // never empty
  // One host of each.
  std::map<std::string, HostId> owners_, networks_;
};

}  // namespace gleaner::policy
