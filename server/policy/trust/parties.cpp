#include "server/policy/trust/parties.h"

#include <utility>

namespace gleaner::policy {
namespace {

bool is_loopback(const std::string& network) {
  return network.starts_with("127.") || network == "::/64";
}

}  // namespace

HostId Parties::root(HostId host) const {
  for (auto found = above_.find(host); found != above_.end() && found->second != host;
       found = above_.find(host))
    host = found->second;
  return host;
}

void Parties::join(HostId a, HostId b) {
  a = root(a), b = root(b);
  if (b < a) std::swap(a, b);
  above_[b] = a;
}

void Parties::add(HostId host, const std::string& owner, const std::string& network) {
  above_.try_emplace(host, host);
  for (const std::string& place : {owner.empty() ? owner : "owner " + owner,
                                   network.empty() || is_loopback(network) ? "" : "network " + network}) {
    if (place.empty()) continue;
    join(known_there_.try_emplace(place, host).first->second, host);
  }
  // Flat, so that long chains of those that were joined first do not stay.
  above_[host] = root(host);
}

std::int64_t Parties::party(HostId host) const {
  return root(host).value;
}

std::vector<HostId> Parties::members(std::int64_t party) const {
  std::vector<HostId> hosts;
  for (const auto& [host, above] : above_)
    if (root(above).value == party) hosts.push_back(host);
  if (hosts.empty()) hosts.push_back(HostId{party});
  return hosts;
}

}  // namespace gleaner::policy
