// What a kernel or manager says, as a line of apps/CONTRACT.md.
#pragma once

#include <string>
#include <string_view>

namespace gleaner::kit {

// A text made fit for a line: no control characters, at most limits::message_length_max bytes.
[[nodiscard]] std::string one_line(std::string_view text);

}  // namespace gleaner::kit
