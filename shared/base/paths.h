// Paths and text: the one border between them. Text is UTF-8 everywhere in Gleaner; std::filesystem::path
// reads and writes a std::string in the bytes of the system's locale, which on Windows are not. Bytes that
// are no UTF-8, as Linux has them in names, go through unchanged.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace gleaner {

[[nodiscard]] std::filesystem::path utf8_path(std::string_view text);
[[nodiscard]] std::string utf8_text(const std::filesystem::path& path);
// The path with more at the end of its name: "log" and ".new" are "log.new".
[[nodiscard]] std::filesystem::path with_suffix(std::filesystem::path path, std::string_view suffix);

}  // namespace gleaner
