#include "server/policy/trust/parties.h"

#include <utility>

namespace gleaner::policy {
std::int64_t Parties::number_of(HostId host) {
  const auto [place, added] = party_.try_emplace(host, host.value);
  if (added) members_[host.value].insert(host);
  return place->second;
}

void Parties::join(HostId a, HostId b) {
  if (a == b) return;
  std::int64_t into = number_of(a), from = number_of(b);
  if (into == from) return;
  if (members_.at(into).size() < members_.at(from).size()) std::swap(into, from);
  auto moved = members_.extract(from);
  for (const HostId host : moved.mapped()) party_[host] = into;
  members_.at(into).merge(moved.mapped());
}

void Parties::add(HostId host, const std::string& owner, const std::string& network) {
  if (!owner.empty()) join(owners_.try_emplace(owner, host).first->second, host);
  if (!network.empty()) join(networks_.try_emplace(network, host).first->second, host);
}

std::int64_t Parties::party(HostId host) const {
  const auto found = party_.find(host);
  return found == party_.end() ? host.value : members_.at(found->second).begin()->value;
}

std::vector<HostId> Parties::members(std::int64_t party) const {
  const auto found = party_.find(HostId{party});
  if (found == party_.end()) return {HostId{party}};
  const auto& hosts = members_.at(found->second);
  return {hosts.begin(), hosts.end()};
}

}  // namespace gleaner::policy
