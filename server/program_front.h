// `gleaner-server front`: the composition root of a front end.
#pragma once

#include <chrono>
#include <string>

#include "shared/io/files.h"

namespace gleaner::server {

// Until SIGTERM. `port`, `log_level`: as run_server has them. `hold`: ClientOptions::hold. The exit code.
[[nodiscard]] int run_front(const io::Path& directory, int port, const std::string& log_level,
                            std::chrono::seconds hold);
// `gleaner-server link-key`.
[[nodiscard]] int make_link_key(const io::Path& file);

}  // namespace gleaner::server
