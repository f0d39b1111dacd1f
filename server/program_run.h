// `gleaner-server run`: the composition root, where the parts of a server are made and put together.
#pragma once

#include <string>

#include "server/service/core/configuration.h"
#include "server/storage/store.h"
#include "shared/base/result.h"
#include "shared/io/files.h"

namespace gleaner::server {

// What the project's server.toml says. Errors: not_found (no project is there), io, invalid.
[[nodiscard]] Result<service::Configuration> read_configuration(const io::Path& directory);
// Until SIGTERM. `port`: another than the settings say; negative: theirs. `log_level`: likewise; empty:
// theirs. The exit code: 0, or 1: why it does not run (any more) is said.
[[nodiscard]] int run_server(const io::Path& directory, int port, const std::string& log_level,
                             storage::Loss loss);

}  // namespace gleaner::server
