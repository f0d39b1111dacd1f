// The client's answers (client/engine/control.h) as text for people. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace gleaner::program {

enum class Colour { no, yes };

// Ends in a line feed. Missing or wrong fields show as blanks, never as errors.
[[nodiscard]] std::string reply_text(const std::string& command, const nlohmann::json& reply, Colour colour);

// A field of an answer; blank, 0 or false if it is missing or something else.
[[nodiscard]] std::string text_of(const nlohmann::json& object, const char* name);
[[nodiscard]] double number_of(const nlohmann::json& object, const char* name);
[[nodiscard]] bool is_set(const nlohmann::json& object, const char* name);

// Of a status: does the client compute for several projects? Of one of its slots: the problem in it, then
// with the project's name behind it.
[[nodiscard]] bool has_several_projects(const nlohmann::json& status);
[[nodiscard]] std::string problem_of(const nlohmann::json& slot, bool several);

// "90s", "30m", "1h", "2d" in seconds (a bare number is minutes); nothing if it is none of them, or over a
// year.
[[nodiscard]] std::optional<double> parse_duration(const std::string& text);

}  // namespace gleaner::program
