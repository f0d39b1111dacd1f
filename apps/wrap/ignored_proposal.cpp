// Rules for outputs that differ: tried, one after the other.
#include <algorithm>
#include <cctype>
#include <string_view>

#include "apps/wrap/ignored.h"

namespace gleaner::wrap {
namespace {

constexpr std::size_t rules_max = 8;
constexpr std::size_t prefix_min = 3;  // shorter ones are found in lines that matter

bool is_of_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

// How the line where they first differ begins, up to what may be a part of a date; empty: nothing
// characteristic.
std::string_view prefix_of_difference(const Bytes& one, const Bytes& other) {
  const auto at = static_cast<std::size_t>(std::ranges::mismatch(one, other).in1 - one.begin());
  const std::size_t begin = at == 0 ? 0 : one.rfind('\n', at - 1) + 1;
  std::string_view prefix = std::string_view(one).substr(begin, at - begin);
  prefix = prefix.substr(0, prefix.find_first_of("0123456789"));
  while (!prefix.empty() && is_of_word(prefix.back()))
    prefix.remove_suffix(1);  // of a word that may be a month
  const bool readable =
      std::ranges::all_of(prefix, [](char c) { return std::isprint(static_cast<unsigned char>(c)) != 0; });
  return readable && prefix.size() >= prefix_min ? prefix : std::string_view();
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

std::vector<std::string> proposed_rules(const Bytes& one, const Bytes& other) {
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
  return rules;
}

}  // namespace gleaner::wrap
