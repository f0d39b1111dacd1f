#include "server/service/core/live_outputs.h"

#include <algorithm>
#include <utility>

namespace gleaner::service {

const LiveOutputs::Output& LiveOutputs::look(UnitId unit, Timestamp now) {
  if (!units_.contains(unit) && units_.size() >= units_max)
    units_.erase(std::ranges::min_element(
        units_, [](const auto& a, const auto& b) { return a.second.looked_at < b.second.looked_at; }));
  Entry& entry = units_[unit];
  entry.looked_at = now;
  return entry.output;
}

bool LiveOutputs::wanted(UnitId unit, Timestamp now) const {
  const auto found = units_.find(unit);
  return found != units_.end() && std::chrono::abs(now - found->second.looked_at) < interest;
}

void LiveOutputs::put(UnitId unit, std::string text, Timestamp at) {
  const auto found = units_.find(unit);
  if (found != units_.end()) found->second.output = {std::move(text), at};
}

}  // namespace gleaner::service
