#include "shared/io/settings_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace gleaner::io {
namespace {

constexpr std::size_t comment_columns = 96;

}  // namespace

std::string toml_string(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (c == '\n') {
      quoted += "\\n";
    } else if (c == '\t') {
      quoted += "\\t";
    } else if ((c >= 0 && c < 0x20) || c == 0x7f) {
      quoted += fmt::format("\\u{:04X}", static_cast<unsigned>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

std::string toml_key(std::string_view name) {
  const bool bare = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
  return bare ? std::string(name) : toml_string(name);
}

std::string toml_number(double value) {
  std::string text = fmt::format("{}", value);
  // A whole number would be read as one, and its key is not of that type.
  if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
  return text;
}

std::string toml_list(const std::vector<std::string>& texts) {
  std::string list = "[";
  for (const auto& text : texts) list += (list.size() > 1 ? ", " : "") + toml_string(text);
  return list + "]";
}

std::string toml_comment(std::string_view text) {
  std::string lines;
  while (!text.empty()) {
    std::size_t length = std::min(text.find('\n'), text.size());
    std::size_t skip = length < text.size() ? 1 : 0;
    if (length > comment_columns) {
      const auto space = text.rfind(' ', comment_columns);
      if (space != std::string_view::npos && space > 0) {
        length = space;
        skip = 1;
      }
    }
    lines += length == 0 ? "#\n" : fmt::format("# {}\n", text.substr(0, length));
    text.remove_prefix(length + skip);
  }
  return lines;
}

}  // namespace gleaner::io
