#include "shared/protocol/json_text.h"

#include <nlohmann/json.hpp>

#include "shared/base/limits.h"
#include "shared/protocol/codec.h"
#include "shared/protocol/text.h"

namespace gleaner::protocol {
namespace json {
namespace {

constexpr std::size_t reason_bytes_max = 300;

Error over(const char* title, const std::string& what, std::int64_t most) {
  return {ErrorKind::too_large,
          std::string(title) + ": " + what + "; at most " + std::to_string(most) + " are accepted"};
}

// The end of the string that begins (behind its quote) at `at`: behind the closing quote, or the text's end.
std::size_t skip_string(std::string_view text, std::size_t at) {
  for (;;) {
    at = text.find_first_of("\"\\", at);
    if (at == std::string_view::npos) return text.size();
    if (text[at] == '"') return at + 1;
    at += 2;  // the escaped character; \uXXXX's digits are ordinary
    if (at > text.size()) return text.size();
  }
}

// "[json.exception.parse_error.101] parse error at line 1, column 2: syntax ..." without the library's own
// name.
std::string reason_of(const std::exception& exception) {
  std::string_view what = exception.what();
  if (const auto bracket = what.find("] "); what.starts_with("[json.") && bracket != std::string_view::npos)
    what.remove_prefix(bracket + 2);
  return clean_line(what, reason_bytes_max);
}

}  // namespace

Status check_bounds(std::string_view text, const TextBounds& bounds, const char* title) {
  if (static_cast<std::int64_t>(text.size()) > bounds.bytes_max)
    return over(title, std::to_string(text.size()) + " bytes", bounds.bytes_max);
  std::int64_t values = 1;
  int depth = 0;
  for (std::size_t at = 0; at < text.size();) {
    switch (text[at++]) {
      case '"':
        at = skip_string(text, at);
        break;
      case '{':
      case '[':
        ++values;
        if (++depth > limits::json_depth_max)
          return over(title, "more nested levels", limits::json_depth_max);
        break;
      case '}':
      case ']':
        --depth;
        break;
      case ',':
        if (++values > bounds.values_max) return over(title, "more values", bounds.values_max);
        break;
      default:
        break;
    }
  }
  if (values > bounds.values_max) return over(title, "more values", bounds.values_max);
  return {};
}

Result<nlohmann::json> parse_text(std::string_view text, const TextBounds& bounds, const char* title) {
  TRY(check_bounds(text, bounds, title));
  try {
    return nlohmann::json::parse(text.begin(), text.end());
  } catch (const std::exception& exception) {
    return Error{ErrorKind::invalid, std::string(title) + ": not JSON: " + reason_of(exception)};
  }
}

}  // namespace json

Status check_json_object(std::string_view text) {
  const json::TextBounds bounds{limits::parameters_bytes_max, limits::json_list_values_max};
  TRY_ASSIGN(const auto tree, json::parse_text(text, bounds, "parameters"));
  if (!tree.is_object())
    return Error{ErrorKind::invalid, "parameters: expected a JSON object, for example {\"width\": 640}"};
  return {};
}

}  // namespace gleaner::protocol
