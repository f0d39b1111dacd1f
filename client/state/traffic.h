// What this computer has moved over the network today and this month, in the file `traffic`, so that the
// owner's limits hold across restarts. Losing it costs nothing else; what cannot be read counts as nothing.
#pragma once

#include "client/policy/traffic.h"
#include "shared/io/files.h"

namespace gleaner::state {

[[nodiscard]] client_policy::TrafficCount load_traffic(const io::Files& files, const io::Path& path);
[[nodiscard]] Status save_traffic(io::Files& files, const io::Path& path,
                                  const client_policy::TrafficCount& count);

}  // namespace gleaner::state
