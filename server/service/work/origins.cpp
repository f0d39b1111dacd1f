#include "server/service/work/origins.h"

namespace gleaner::service {

HostNames host_names(const Model& model, const std::vector<storage::AcceptedSegment>& pieces) {
  HostNames names;
  for (const auto& piece : pieces) {
    const HostId id = piece.segment.host;
    if (names.contains(id)) continue;
    const auto host = model.hosts.find(id);
    names[id] = host == model.hosts.end() ? "host " + std::to_string(id.value) : host->second.row.name;
  }
  return names;
}

std::vector<contract::Origin> origins_of(const std::vector<storage::AcceptedSegment>& pieces,
                                         const HostNames& names) {
  std::vector<contract::Origin> origins;
  origins.reserve(pieces.size());
  for (const auto& [range, segment] : pieces)
    origins.push_back(
        {range, segment.compute_seconds / static_cast<double>(segment.range.size()), names.at(segment.host)});
  return origins;
}

}  // namespace gleaner::service
