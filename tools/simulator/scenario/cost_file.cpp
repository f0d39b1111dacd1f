// A file of items' costs: a line an item, the cost and perhaps what the server is told; empty lines do not
// count.
#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "tools/simulator/scenario/scenario.h"

namespace gleaner::simulator {
namespace {

constexpr std::size_t items_max = 200'000'000;
constexpr std::size_t shown_length = 40;
constexpr const char* blank = " \t\r";

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (auto begin = line.find_first_not_of(blank); begin != std::string_view::npos;
       begin = line.find_first_not_of(blank)) {
    line.remove_prefix(begin);
    const auto end = std::min(line.find_first_of(blank), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
    if (words.size() > 2) break;
  }
  return words;
}

bool read_cost(std::string_view word, double& cost) {
  const auto [rest, fault] = std::from_chars(word.data(), word.data() + word.size(), cost);
  return fault == std::errc() && rest == word.data() + word.size() && std::isfinite(cost) && cost > 0;
}

}  // namespace

Result<Work> read_costs(std::string_view text, const std::string& file) {
  Work work;
  std::size_t number = 0, width = 0;
  const auto expected = [&](const std::string& what, std::string_view got) {
    return Error{ErrorKind::invalid, fmt::format("{}:{}: expected {}, got \"{}\"", file, number, what,
                                                 got.substr(0, shown_length))};
  };
  while (!text.empty()) {
    ++number;
    const auto end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const auto words = words_of(line);
    if (words.empty()) continue;
    double numbers[2] = {};
    for (std::size_t i = 0; i < std::min<std::size_t>(2, words.size()); ++i) {
      if (!read_cost(words[i], numbers[i])) return expected("a number above 0", words[i]);
    }
    if (width == 0) width = std::min<std::size_t>(2, words.size());
    if (words.size() != width)
      return expected(width == 1 ? "one number as on the lines before" : "two numbers, cost and hint", line);
    if (work.costs.size() == items_max)
      return Error{ErrorKind::too_large, fmt::format("{}:{}: more than {} items", file, number, items_max)};
    work.costs.push_back(numbers[0]);
    if (width == 2) work.hints.push_back(numbers[1]);
  }
  if (work.costs.empty())
    return Error{ErrorKind::invalid, file + ":1: expected a number above 0, the file has none"};
  if (width == 1) work.hints = work.costs;
  return work;
}

}  // namespace gleaner::simulator
