// How much of this computer each project has used, in the file `shares`, so that shares hold across
// restarts. Losing it costs nothing else; what cannot be read counts as zero.
#pragma once

#include "client/policy/project_shares.h"
#include "client/state/state_directory.h"

namespace gleaner::state {

using ProjectUses = std::map<std::string, client_policy::ProjectUse>;

[[nodiscard]] ProjectUses load_usage(const io::Files& files, const io::Path& path);
[[nodiscard]] Status save_usage(io::Files& files, const io::Path& path, const ProjectUses& uses);

}  // namespace gleaner::state
