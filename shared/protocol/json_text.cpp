#include "shared/protocol/json_text.h"

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/src.hpp>  // the library itself: Debian's package of it is not needed
#include <charconv>

#include "shared/base/limits.h"
#include "shared/protocol/codec.h"

namespace gleaner::protocol {
namespace json {
namespace {

using boost::json::error_code;
using boost::json::string_view;

// Builds the tree as the library's own handler does, but counts, and reads numbers to the last bit. The names
// are the library's.
class TreeBuilder {
 public:
  static constexpr std::size_t max_object_size = limits::json_list_values_max;
  static constexpr std::size_t max_array_size = limits::json_list_values_max;
  static constexpr std::size_t max_key_size = limits::json_message_bytes_max;
  static constexpr std::size_t max_string_size = limits::json_message_bytes_max;

  explicit TreeBuilder(std::int64_t values_max) : values_left_(values_max) {}

  bool on_document_begin(error_code&) {
    stack_.reset();
    return true;
  }
  bool on_document_end(error_code&) { return true; }
  // Counted at their begin, so that unfinished ones count, too.
  bool on_object_begin(error_code& fault) { return count(fault); }
  bool on_array_begin(error_code& fault) { return count(fault); }
  bool on_object_end(std::size_t members, error_code&) {
    stack_.push_object(members);
    return true;
  }
  bool on_array_end(std::size_t elements, error_code&) {
    stack_.push_array(elements);
    return true;
  }
  bool on_key_part(string_view part, std::size_t, error_code&) {
    stack_.push_chars(part);
    return true;
  }
  bool on_key(string_view key, std::size_t, error_code&) {
    stack_.push_key(key);
    return true;
  }
  bool on_string_part(string_view part, std::size_t, error_code&) {
    stack_.push_chars(part);
    return true;
  }
  bool on_string(string_view text, std::size_t, error_code& fault) {
    stack_.push_string(text);
    return count(fault);
  }
  bool on_number_part(string_view, error_code&) { return true; }
  bool on_int64(std::int64_t number, string_view, error_code& fault) {
    stack_.push_int64(number);
    return count(fault);
  }
  bool on_uint64(std::uint64_t number, string_view, error_code& fault) {
    stack_.push_uint64(number);
    return count(fault);
  }
  // The library's own conversion may be off by a few units in the last place.
  bool on_double(double, string_view text, error_code& fault) {
    double number = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (problem != std::errc{} || end != text.data() + text.size()) {
      fault = make_error_code(boost::json::error::exponent_overflow);
      return false;
    }
    stack_.push_double(number);
    return count(fault);
  }
  bool on_bool(bool value, error_code& fault) {
    stack_.push_bool(value);
    return count(fault);
  }
  bool on_null(error_code& fault) {
    stack_.push_null();
    return count(fault);
  }
  bool on_comment_part(string_view, error_code&) { return true; }
  bool on_comment(string_view, error_code&) { return true; }

  [[nodiscard]] boost::json::value release() { return stack_.release(); }

 private:
  bool count(error_code& fault) {
    if (--values_left_ >= 0) return true;
    fault = make_error_code(boost::json::error::array_too_large);
    return false;
  }

  boost::json::value_stack stack_;
  std::int64_t values_left_;
};

Error over(const char* title, const std::string& what, std::int64_t most) {
  return {ErrorKind::too_large,
          std::string(title) + ": " + what + "; at most " + std::to_string(most) + " are accepted"};
}

Error parse_error(const error_code& fault, std::size_t at, const TextBounds& bounds, const char* title) {
  if (fault == boost::json::error::too_deep) return over(title, "more nested levels", limits::json_depth_max);
  if (fault == boost::json::error::array_too_large || fault == boost::json::error::object_too_large)
    return over(title, "more values", bounds.values_max);
  return {ErrorKind::invalid,
          std::string(title) + ": not JSON: " + fault.message() + " at byte " + std::to_string(at + 1)};
}

}  // namespace

Result<boost::json::value> parse_text(std::string_view text, const TextBounds& bounds, const char* title) {
  if (static_cast<std::int64_t>(text.size()) > bounds.bytes_max)
    return over(title, std::to_string(text.size()) + " bytes", bounds.bytes_max);
  boost::json::parse_options options;
  options.max_depth = limits::json_depth_max;
  try {
    boost::json::basic_parser<TreeBuilder> parser(options, bounds.values_max);
    error_code fault;
    const std::size_t read = parser.write_some(false, text.data(), text.size(), fault);
    if (fault) return parse_error(fault, read, bounds, title);
    if (read < text.size())
      return parse_error(make_error_code(boost::json::error::extra_data), read, bounds, title);
    return parser.handler().release();
  } catch (const std::exception& exception) {  // out of memory
    return Error{ErrorKind::unavailable, std::string(title) + ": cannot be read: " + exception.what()};
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
