// The plain status page: problems, progress and hosts as HTML without scripts. It shows nothing that would
// let a reader join, command or impersonate (no join code, no tokens, no addresses).
#pragma once

#include <string>

#include "server/service/operator/overview.h"

namespace gleaner::http {

[[nodiscard]] std::string render_status_page(const service::ProjectSnapshot& snapshot);
// &, <, >, ", ' as entities.
[[nodiscard]] std::string escape_html(std::string_view text);

}  // namespace gleaner::http
