// The plain status page: problems, progress and hosts as HTML without scripts. It shows nothing that would
// let a reader join, command or impersonate (no join code, no tokens, no addresses).
#pragma once

#include <string>
#include <vector>

#include "shared/protocol/admin_messages.h"

namespace gleaner::http {

[[nodiscard]] std::string render_status_page(const protocol::ServerStatus& status,
                                             const std::vector<protocol::ProblemInfo>& problems,
                                             const std::vector<protocol::HostInfo>& hosts);
// &, <, >, ", ' as entities.
[[nodiscard]] std::string escape_html(std::string_view text);

}  // namespace gleaner::http
