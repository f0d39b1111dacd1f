#include "server/service/core/relay_index.h"

#include <algorithm>

namespace gleaner::service {

void RelayIndex::put(const storage::HostRow& row) {
  if (row.children > 0)
    relays_.insert(row.id);
  else
    relays_.erase(row.id);
  const bool belongs = row.state == protocol::HostState::active && row.relay != HostId{};
  if (const auto known = relay_of_.find(row.id); known != relay_of_.end()) {
    if (belongs && known->second == row.relay) return;
    const auto place = under_.find(known->second);
    place->second.erase(row.id);
    if (place->second.empty()) under_.erase(place);
    relay_of_.erase(known);
  }
  if (!belongs) return;
  relay_of_[row.id] = row.relay;
  under_[row.relay].insert(row.id);
}

std::vector<HostId> RelayIndex::above(HostId host) const {
  std::vector<HostId> relays;
  for (auto at = relay_of_.find(host); at != relay_of_.end(); at = relay_of_.find(at->second))
    relays.push_back(at->second);
  return relays;
}

std::vector<HostId> RelayIndex::under(HostId relay) const {
  const auto found = under_.find(relay);
  return found == under_.end() ? std::vector<HostId>{}
                               : std::vector(found->second.begin(), found->second.end());
}

std::int64_t RelayIndex::count(HostId relay) const {
  const auto all = counts();
  const auto found = all.find(relay);
  return found == all.end() ? 0 : found->second;
}

std::map<HostId, std::int64_t> RelayIndex::counts() const {
  std::map<HostId, std::int64_t> counts;
  for (const auto& [relay, directly] : under_) {
    const auto hosts = static_cast<std::int64_t>(directly.size());
    counts[relay] += hosts;
    for (const HostId each : above(relay)) counts[each] += hosts;
  }
  return counts;
}

int RelayIndex::height(HostId relay) const {
  if (!under_.contains(relay)) return 0;
  int height = 1;
  for (const auto& [each, directly] : under_) {
    const auto relays = above(each);
    const auto at = std::find(relays.begin(), relays.end(), relay);
    if (at != relays.end()) height = std::max(height, static_cast<int>(at - relays.begin()) + 2);
  }
  return height;
}

}  // namespace gleaner::service
