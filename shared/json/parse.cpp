#include <algorithm>
#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/src.hpp>  // the library itself: Debian's package of it is not needed
#include <charconv>

#include "shared/json/text.h"

namespace gleaner::json {
namespace {

using boost::json::error_code;
using boost::json::string_view;

// Takes what the library's parser finds, and counts. The names are the library's.
class TreeBuilder {
 public:
  static constexpr std::size_t max_object_size = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t max_array_size = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t max_key_size = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t max_string_size = std::numeric_limits<std::size_t>::max();

  explicit TreeBuilder(std::int64_t values_max) : values_left_(values_max) {}

  bool on_document_begin(error_code&) { return true; }
  bool on_document_end(error_code&) { return true; }
  // Counted at their begin, so that unfinished ones count, too.
  bool on_object_begin(error_code& fault) { return count(fault); }
  bool on_array_begin(error_code& fault) { return count(fault); }
  bool on_object_end(std::size_t count, error_code&) {
    std::vector<Value::Member> members;
    members.reserve(count);
    const std::size_t first_value = values_.size() - count;
    const std::size_t first_name = names_.size() - count;
    for (std::size_t i = 0; i < count; ++i)
      members.emplace_back(std::move(names_[first_name + i]), std::move(values_[first_value + i]));
    names_.resize(first_name);
    values_.resize(first_value);
    values_.push_back(Value::object(std::move(members)));
    return true;
  }
  bool on_array_end(std::size_t count, error_code&) {
    const auto first = values_.end() - static_cast<std::ptrdiff_t>(count);
    std::vector<Value> elements(std::make_move_iterator(first), std::make_move_iterator(values_.end()));
    values_.resize(values_.size() - count);
    values_.push_back(Value::array(std::move(elements)));
    return true;
  }
  bool on_key_part(string_view part, std::size_t, error_code&) { return add(part); }
  bool on_key(string_view key, std::size_t, error_code&) {
    names_.push_back(text(key));
    return true;
  }
  bool on_string_part(string_view part, std::size_t, error_code&) { return add(part); }
  bool on_string(string_view part, std::size_t, error_code& fault) { return take(text(part), fault); }
  bool on_number_part(string_view, error_code&) { return true; }
  bool on_int64(std::int64_t number, string_view, error_code& fault) { return take(number, fault); }
  bool on_uint64(std::uint64_t number, string_view, error_code& fault) { return take(number, fault); }
  // The library's own conversion may be off by a few units in the last place.
  bool on_double(double, string_view digits, error_code& fault) {
    double number = 0;
    const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (problem != std::errc{} || end != digits.data() + digits.size()) {
      fault = make_error_code(boost::json::error::exponent_overflow);
      return false;
    }
    return take(number, fault);
  }
  bool on_bool(bool value, error_code& fault) { return take(value, fault); }
  bool on_null(error_code& fault) { return take(nullptr, fault); }
  bool on_comment_part(string_view, error_code&) { return true; }
  bool on_comment(string_view, error_code&) { return true; }

  // REQUIRES: the whole text was read.
  [[nodiscard]] Value take_root() { return std::move(values_.back()); }

 private:
  bool count(error_code& fault) {
    if (--values_left_ >= 0) return true;
    fault = make_error_code(boost::json::error::array_too_large);
    return false;
  }
  template <typename T>
  bool take(T&& value, error_code& fault) {
    values_.emplace_back(std::forward<T>(value));
    return count(fault);
  }
  bool add(string_view part) {
    parts_.append(part.data(), part.size());
    return true;
  }
  std::string text(string_view last) {
    if (parts_.empty()) return {last.data(), last.size()};
    add(last);
    return std::exchange(parts_, {});
  }

  std::vector<Value> values_;       // whose array or object has not ended yet
  std::vector<std::string> names_;  // of the objects among them
  std::string parts_;               // of the text that is being read
  std::int64_t values_left_;
};

Error over(const std::string& what, std::int64_t most) {
  return {ErrorKind::too_large, what + "; at most " + std::to_string(most) + " are accepted"};
}

Error parse_error(const error_code& fault, std::string_view text, std::size_t at, const Bounds& bounds) {
  if (fault == boost::json::error::too_deep) return over("more nested levels", bounds.depth_max);
  if (fault == boost::json::error::array_too_large) return over("more values", bounds.values_max);
  const bool overflow = fault == boost::json::error::exponent_overflow;
  const std::string_view before = text.substr(0, at);
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const std::size_t line_begin = lines == 0 ? 0 : before.rfind('\n') + 1;
  return {ErrorKind::invalid, "not JSON at line " + std::to_string(lines + 1) + ", column " +
                                  std::to_string(at - line_begin + 1) + ": " +
                                  (overflow ? "a number that no double holds" : fault.message())};
}

}  // namespace

Result<Value> parse(std::string_view text, const Bounds& bounds) {
  if (std::cmp_greater(text.size(), bounds.bytes_max))
    return over(std::to_string(text.size()) + " bytes", bounds.bytes_max);
  boost::json::parse_options options;
  options.max_depth = static_cast<std::size_t>(bounds.depth_max);
  try {
    boost::json::basic_parser<TreeBuilder> parser(options, bounds.values_max);
    error_code fault;
    const std::size_t read = parser.write_some(false, text.data(), text.size(), fault);
    if (!fault && read < text.size()) fault = make_error_code(boost::json::error::extra_data);
    if (fault) return parse_error(fault, text, read, bounds);
    return parser.handler().take_root();
  } catch (const std::exception& exception) {  // out of memory
    return Error{ErrorKind::unavailable, std::string("cannot be read: ") + exception.what()};
  }
}

Value parse_or_null(std::string_view text) {
  auto value = parse(text);
  return value.ok() ? std::move(value).value() : Value();
}

}  // namespace gleaner::json
