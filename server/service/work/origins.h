// Who computed the results that count, and how long each item took: told to managers that combine them.
#pragma once

#include <vector>

#include "server/service/core/model.h"
#include "shared/contract/manager_session.h"

namespace gleaner::service {

// Writer thread. The names of the hosts whose results these are.
[[nodiscard]] HostNames host_names(const Model& model, const std::vector<storage::AcceptedSegment>& pieces);

// In the order of the pieces. The seconds of a segment are shared evenly by its items. Any thread.
[[nodiscard]] std::vector<contract::Origin> origins_of(const std::vector<storage::AcceptedSegment>& pieces,
                                                       const HostNames& names);

}  // namespace gleaner::service
