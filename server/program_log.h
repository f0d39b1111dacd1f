// Where the server's log goes, and in which form: lines for people, or a JSON document a line for programs.
#pragma once

#include <spdlog/formatter.h>
#include <memory>
#include <string>

namespace gleaner::server {

// {"time":"2026-11-20T22:04:05.123Z","level":"info","thread":1234,"message":"..."}
[[nodiscard]] std::unique_ptr<spdlog::formatter> json_formatter();

// To standard error, from now on. `level` and `form` as the settings log.level and log.format have them.
void set_up_log(const std::string& level, const std::string& form);

}  // namespace gleaner::server
