// The client's answers (client/engine/control.h) as text for people. Pure.
#pragma once

#include <optional>
#include <string>

#include "shared/base/clock.h"
#include "shared/json/value.h"

namespace gleaner::program {

enum class Colour { no, yes };

// Ends in a line feed. Missing or wrong fields show as blanks, never as errors.
[[nodiscard]] std::string reply_text(const std::string& command, const json::Value& reply, Colour colour);

// A field of an answer; blank, 0 or false if it is missing or something else.
// What this computer gave, of a status.
[[nodiscard]] std::string given_text(const json::Value& status);
[[nodiscard]] std::string text_of(const json::Value& object, const char* name);
[[nodiscard]] double number_of(const json::Value& object, const char* name);
[[nodiscard]] bool is_set(const json::Value& object, const char* name);

// Of a status: does the client compute for several projects? Of one of its slots: the problem in it, then
// with the project's name behind it.
[[nodiscard]] bool has_several_projects(const json::Value& status);
[[nodiscard]] std::string problem_of(const json::Value& slot, bool several);

// Seconds from `now` until "18:30", "mon 8:00" or "2026-12-24 18:00" in this computer's time zone; nothing if
// it is none of them, not in the future, or more than a year away.
[[nodiscard]] std::optional<double> seconds_until(const std::string& text, Timestamp now);
// "90s", "30m", "1h", "2d" in seconds (a bare number is minutes); nothing if it is none of them, or over a
// year.
[[nodiscard]] std::optional<double> parse_duration(const std::string& text);

}  // namespace gleaner::program
