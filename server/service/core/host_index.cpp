#include "server/service/core/host_index.h"

#include <algorithm>
#include <functional>

namespace gleaner::service {
namespace {

std::chrono::sys_seconds second_of(Timestamp time) {
  return std::chrono::floor<std::chrono::seconds>(time);
}

}  // namespace

void HostIndex::put(const storage::HostRow& row) {
  const auto [place, added] = hosts_.try_emplace(row.id);
  if (!added) take_out(row.id, place->second);
  const bool active = row.state == protocol::HostState::active;
  const auto code = codes_.try_emplace(row.code).first;
  place->second = {std::hash<Bytes>{}(row.public_key), code, active && row.mflops > 0 ? row.mflops : 0,
                   active, active && !row.on_hold.empty()};
  keys_.emplace(place->second.key, row.id);
  ++code->second;
  if (place->second.mflops > 0) speeds_.insert(row.mflops);
  active_ += active ? 1 : 0;
  on_hold_ += place->second.on_hold ? 1 : 0;
  relays_.put(row);
}

void HostIndex::take_out(HostId host, const Counted& counted) {
  const auto [begin, end] = keys_.equal_range(counted.key);
  keys_.erase(std::find_if(begin, end, [&](const auto& entry) { return entry.second == host; }));
  if (--counted.code->second == 0) codes_.erase(counted.code);
  if (counted.mflops > 0) speeds_.erase(speeds_.find(counted.mflops));
  active_ -= counted.active ? 1 : 0;
  on_hold_ -= counted.on_hold ? 1 : 0;
}

std::vector<HostId> HostIndex::with_key(const Bytes& public_key) const {
  std::vector<HostId> hosts;
  const auto [begin, end] = keys_.equal_range(std::hash<Bytes>{}(public_key));
  for (auto entry = begin; entry != end; ++entry) hosts.push_back(entry->second);
  return hosts;
}

std::int64_t HostIndex::with_code(const std::string& code) const {
  const auto found = codes_.find(code);
  return found == codes_.end() ? 0 : found->second;
}

void Contacts::heard(Timestamp before, Timestamp time, Timestamp now) {
  if (before != Timestamp{}) forget(before);
  seconds_.erase(seconds_.begin(), seconds_.upper_bound(second_of(now - remembered)));
  if (second_of(time) > second_of(now - remembered)) ++seconds_[second_of(time)];
}

void Contacts::forget(Timestamp time) {
  const auto found = seconds_.find(second_of(time));
  if (found != seconds_.end() && --found->second == 0) seconds_.erase(found);
}

std::int64_t Contacts::count(Timestamp now) const {
  std::int64_t sum = 0;
  for (auto each = seconds_.upper_bound(second_of(now - remembered)); each != seconds_.end(); ++each)
    sum += each->second;
  return sum;
}

}  // namespace gleaner::service
