#include "server/service/host_index.h"

#include <algorithm>

namespace gleaner::service {

void HostIndex::put(const storage::HostRow& row) {
  const auto [place, added] = hosts_.try_emplace(row.id);
  if (!added) take_out(row.id, place->second);
  const bool measured = row.state == protocol::HostState::active && row.mflops > 0;
  place->second = {row.public_key, row.code, measured ? row.mflops : 0};
  keys_.emplace(row.public_key, row.id);
  ++codes_[row.code];
  if (measured) speeds_.insert(row.mflops);
}

void HostIndex::take_out(HostId host, const Counted& counted) {
  const auto [begin, end] = keys_.equal_range(counted.public_key);
  keys_.erase(std::find_if(begin, end, [&](const auto& entry) { return entry.second == host; }));
  if (const auto code = codes_.find(counted.code); --code->second == 0) codes_.erase(code);
  if (counted.mflops > 0) speeds_.erase(speeds_.find(counted.mflops));
}

std::vector<HostId> HostIndex::with_key(const Bytes& public_key) const {
  std::vector<HostId> hosts;
  const auto [begin, end] = keys_.equal_range(public_key);
  for (auto entry = begin; entry != end; ++entry) hosts.push_back(entry->second);
  return hosts;
}

std::int64_t HostIndex::with_code(const std::string& code) const {
  const auto found = codes_.find(code);
  return found == codes_.end() ? 0 : found->second;
}

}  // namespace gleaner::service
