// `gleaner-server check`: service/upkeep/check.h for people and scripts. Blocks until all is read.
#pragma once

#include "server/service/upkeep/check.h"

namespace gleaner::server {

// Says it on standard error; 1.
int fail(const Error& error);

enum class Format { text, json };
// The exit code: 0 nothing is wrong (any more), 1 it could not be checked, 3 --repair mends it, 4 somebody
// has to do something.
[[nodiscard]] int run_check(const service::Settings& settings, service::CheckOptions options, Format format);

}  // namespace gleaner::server
