#include "shared/contract/words.h"

#include <charconv>
#include <utility>

#include "shared/base/limits.h"
#include "shared/protocol/text.h"

namespace gleaner::contract {
namespace {

constexpr std::size_t quoted_bytes_max = 120;
constexpr std::size_t last_words_bytes_max = 2000;

bool begins_with_digit(std::string_view word) {
  return !word.empty() && word[0] >= '0' && word[0] <= '9';
}

// All of `word` as a number; from_chars also knows signs, "inf" and "nan", which are no numbers here.
template <typename Number>
std::optional<Number> number_of(std::string_view word) {
  Number value{};
  const auto [end, fault] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (!begins_with_digit(word) || fault != std::errc{} || end != word.data() + word.size())
    return std::nullopt;
  return value;
}

}  // namespace

std::string_view Words::next() {
  const auto space = rest_.find(' ');
  const std::string_view word = rest_.substr(0, space);
  if (space == std::string_view::npos) return rest();
  rest_.remove_prefix(space + 1);
  return word;
}

std::string_view Words::rest() {
  ended_ = true;
  return std::exchange(rest_, std::string_view{});
}

std::optional<std::int64_t> Words::number() {
  const auto value = number_of<std::int64_t>(next());
  return value && *value <= limits::items_max ? value : std::nullopt;
}

std::optional<double> Words::fraction(double high) {
  const auto value = number_of<double>(next());
  return value && *value >= 0 && *value <= high ? value : std::nullopt;
}

std::optional<Range> Words::range() {
  const auto begin = number();
  const auto end = number();
  if (!begin || !end || *begin > *end) return std::nullopt;
  return Range{*begin, *end};
}

std::string in_quotes(std::string_view line) {
  return "\"" + protocol::clean_line(line, quoted_bytes_max) + "\"";
}

std::string last_words(std::string_view error_tail) {
  if (error_tail.size() > last_words_bytes_max)
    error_tail.remove_prefix(error_tail.size() - last_words_bytes_max);
  const auto begin = error_tail.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  const auto end = error_tail.find_last_not_of(" \t\r\n");
  return ". Its last words: " +
         protocol::clean_text(error_tail.substr(begin, end - begin + 1), last_words_bytes_max);
}

}  // namespace gleaner::contract
