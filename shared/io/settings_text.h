// Values as TOML text, for Settings::render(). Private to this module. Thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gleaner::io {

[[nodiscard]] std::string toml_string(std::string_view text);  // in quotes, escaped
[[nodiscard]] std::string toml_key(std::string_view name);     // in quotes only if it must be
[[nodiscard]] std::string toml_number(double value);           // shortest that reads back the same
[[nodiscard]] std::string toml_list(const std::vector<std::string>& texts);  // on one line
[[nodiscard]] std::string toml_comment(std::string_view text);  // wrapped lines that begin with "# "

}  // namespace gleaner::io
