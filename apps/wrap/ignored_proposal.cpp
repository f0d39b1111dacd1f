// Rules for outputs that differ: tried, one after the other.
#include <algorithm>
#include <cctype>
#include <regex>
#include <string_view>

#include "apps/wrap/ignored.h"
#include "apps/wrap/numbers.h"

namespace gleaner::wrap {
namespace {

constexpr std::size_t rules_max = 8;
constexpr std::size_t prefix_min = 3;  // shorter ones are found in lines that matter
constexpr std::size_t dated_line_max = 1000;

bool is_of_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

// A line that the program writes about its run, not about its result.
bool is_of_date(std::string_view line, std::string_view prefix) {
  static const std::regex date(
      R"(\d{1,2}:\d{2}|\d{4}-\d{2}-\d{2}|\d{1,2}[./]\d{1,2}[./]\d{2,4}|\b1\d{9}\b|)"
      R"(\b(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|Mon|Tue|Wed|Thu|Fri|Sat|Sun)\b)");
  static const std::regex word(
      R"((date|time|times|clock|seconds|elapsed|duration|took|taken)\s*(\([^)]*\))?\W*$)", std::regex::icase);
  const std::string head(line.substr(0, dated_line_max)), before(prefix.substr(0, dated_line_max));
  return std::regex_search(head, date) || std::regex_search(before, word);
}

std::string_view line_at(const Bytes& text, std::size_t begin) {
  return std::string_view(text).substr(begin, std::min(text.find('\n', begin), text.size()) - begin);
}

// How the line where they first differ begins, up to what may be a part of a date; empty: nothing
// characteristic, or no date.
std::string_view prefix_of_difference(const Bytes& one, const Bytes& other) {
  const auto at = static_cast<std::size_t>(std::ranges::mismatch(one, other).in1 - one.begin());
  const std::size_t begin = at == 0 ? 0 : one.rfind('\n', at - 1) + 1;
  std::string_view prefix = std::string_view(one).substr(begin, at - begin);
  prefix = prefix.substr(0, prefix.find_first_of("0123456789"));
  while (!prefix.empty() && is_of_word(prefix.back()))
    prefix.remove_suffix(1);  // of a word that may be a month
  const bool readable =
      std::ranges::all_of(prefix, [](char c) { return std::isprint(static_cast<unsigned char>(c)) != 0; });
  if (!readable || prefix.size() < prefix_min) return {};
  return is_of_date(line_at(one, begin), prefix) && is_of_date(line_at(other, begin), prefix)
             ? prefix
             : std::string_view();
}

std::string rule_of(std::string_view prefix) {
  std::string rule = "lines=^";
  for (const char c : prefix) {
    if (std::string_view("^$\\.*+?()[]{}|").find(c) != std::string_view::npos) rule += '\\';
    rule += c;
  }
  return rule;
}

}  // namespace

namespace {

using Numbers = std::vector<std::pair<std::string, std::string>>;

bool keeps_numbers(const Ignored& ignored, const Bytes& one, const Numbers& numbers) {
  const Bytes left = ignored.remove_from(one);
  return std::ranges::all_of(numbers, [&](const auto& number) {
    const std::regex expression(number.second);
    return find_number({one}, expression) == find_number({left}, expression);
  });
}

}  // namespace

std::vector<std::string> proposed_rules(const Bytes& one, const Bytes& other, const Numbers& numbers) {
  for (const char* format : {"png", "gzip", "tar"})
    if (const auto ignored = Ignored::parse({format});
        ignored->remove_from(one) == ignored->remove_from(other))
      return {format};
  std::vector<std::string> rules;
  Bytes left = one, right = other;
  while (left != right) {
    const std::string_view prefix = prefix_of_difference(left, right);
    if (prefix.empty() || rules.size() == rules_max) return {};
    rules.push_back(rule_of(prefix));
    const auto ignored = Ignored::parse(rules);
    if (!ignored.ok()) return {};
    const Bytes before = std::move(left);
    left = ignored->remove_from(one);
    right = ignored->remove_from(other);
    if (left == before) return {};
  }
  if (!keeps_numbers(*Ignored::parse(rules), one, numbers)) return {};
  return rules;
}

}  // namespace gleaner::wrap
