// Text of others (names, messages, a program's dying words) made fit to be read by a person: on a terminal,
// in a log, on a page, in a mail. The one place for it. Stateless and thread-safe.
//
// What is returned is valid UTF-8 of characters that is_shown() allows. Bytes that are not UTF-8 become
// U+FFFD; every other character that is not allowed becomes a space. Cleaning twice changes nothing more.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gleaner {

inline constexpr std::size_t text_unbounded = static_cast<std::size_t>(-1) / 4;

// Line feeds and tabs stay. At most bytes_max bytes: what is longer ends in "...".
[[nodiscard]] std::string clean_text(std::string_view text, std::size_t bytes_max);

// On one line, without blanks around it: for names, and for whatever else is part of a line.
[[nodiscard]] std::string clean_line(std::string_view text, std::size_t bytes_max = text_unbounded);

// Is it clean already? Then it is no longer than one that was cleaned, and nothing in it needs to be changed.
// `allowed`: controls that it may have, such as line feed.
[[nodiscard]] bool is_clean(std::string_view text, std::string_view allowed = {});

}  // namespace gleaner
