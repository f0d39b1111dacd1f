// The lines of apps/CONTRACT.md, and how they are quoted in messages. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "shared/base/words.h"

namespace gleaner::contract {

inline constexpr std::size_t line_bytes_max = 65'536;  // with its line feed

// For messages: the line in quotes, cleaned and cut.
[[nodiscard]] std::string in_quotes(std::string_view line);

// The end of what a program said on standard error, as a sentence that follows another; empty if it said
// nothing.
[[nodiscard]] std::string last_words(std::string_view error_tail);

}  // namespace gleaner::contract
