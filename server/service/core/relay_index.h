// Who is under which relay. A part of HostIndex (host_index.h): writer thread.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "server/storage/store.h"

namespace gleaner::service {

class RelayIndex {
 public:
  // Whenever the row has changed.
  void put(const storage::HostRow& row);
  // Hosts that were admitted as relays, whatever their state.
  [[nodiscard]] const std::set<HostId>& relays() const { return relays_; }
  // The relays above the host, the nearest first.
  [[nodiscard]] std::vector<HostId> above(HostId host) const;
  // The hosts directly under it.
  [[nodiscard]] std::vector<HostId> under(HostId relay) const;
  // All under it, those under relays under it included.
  [[nodiscard]] std::int64_t count(HostId relay) const;
  // The same of every relay that anybody is under.
  [[nodiscard]] std::map<HostId, std::int64_t> counts() const;
  // How many relays are below each other under it, itself included: 0 for a host that nobody is under.
  [[nodiscard]] int height(HostId relay) const;

 private:
  std::set<HostId> relays_;
  std::unordered_map<HostId, HostId> relay_of_;  // of active hosts under one
  std::map<HostId, std::set<HostId>> under_;     // no empty ones
};

}  // namespace gleaner::service
