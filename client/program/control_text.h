// The client's answers (client/engine/control.h) as text for people. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace gleaner::program {

enum class Colour { no, yes };

// Ends in a line feed. Missing or wrong fields show as blanks, never as errors.
[[nodiscard]] std::string reply_text(const std::string& command, const nlohmann::json& reply, Colour colour);

// "90s", "30m", "1h", "2d" in seconds (a bare number is minutes); nothing if it is none of them, or over a
// year.
[[nodiscard]] std::optional<double> parse_duration(const std::string& text);

}  // namespace gleaner::program
