#include "shared/base/words.h"

#include <charconv>
#include <utility>

#include "shared/base/limits.h"

namespace gleaner {
namespace {

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

}  // namespace gleaner
