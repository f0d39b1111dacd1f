// All hosts, in order, and each found at once: a tree of a million is twenty cold places deep, and every
// request looks several times. What is found stays where it is. A part of the model (model.h): writer thread.
#pragma once

#include <map>
#include <unordered_map>
#include <utility>

#include "shared/base/ids.h"

namespace gleaner::service {

template <typename Host>
class HostTable {
 public:
  HostTable() = default;
  HostTable(HostTable&&) = default;
  HostTable& operator=(HostTable&&) = default;

  using Hosts = std::map<HostId, Host>;
  using iterator = typename Hosts::iterator;
  using const_iterator = typename Hosts::const_iterator;

  [[nodiscard]] iterator begin() { return hosts_.begin(); }
  [[nodiscard]] iterator end() { return hosts_.end(); }
  [[nodiscard]] const_iterator begin() const { return hosts_.begin(); }
  [[nodiscard]] const_iterator end() const { return hosts_.end(); }
  [[nodiscard]] std::size_t size() const { return hosts_.size(); }
  [[nodiscard]] bool empty() const { return hosts_.empty(); }

  [[nodiscard]] iterator find(HostId id) {
    const auto found = places_.find(id);
    return found == places_.end() ? hosts_.end() : found->second;
  }
  [[nodiscard]] const_iterator find(HostId id) const {
    const auto found = places_.find(id);
    return found == places_.end() ? hosts_.end() : const_iterator(found->second);
  }
  // The first with a greater number.
  [[nodiscard]] const_iterator upper_bound(HostId id) const { return hosts_.upper_bound(id); }
  [[nodiscard]] bool contains(HostId id) const { return places_.contains(id); }
  [[nodiscard]] Host& at(HostId id) { return places_.at(id)->second; }
  [[nodiscard]] const Host& at(HostId id) const { return places_.at(id)->second; }
  // Made if need be.
  Host& operator[](HostId id) {
    const auto [place, added] = places_.try_emplace(id);
    if (added) place->second = hosts_.try_emplace(hosts_.end(), id);
    return place->second->second;
  }

 private:
  Hosts hosts_;
  std::unordered_map<HostId, iterator> places_;
};

}  // namespace gleaner::service
