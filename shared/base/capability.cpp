#include "shared/base/capability.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace gleaner {
namespace {

constexpr std::size_t name_length_max = 64;
constexpr int number_max = 99'999;

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= name_length_max && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
}

std::optional<int> number_of(std::string_view text) {
  int number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = fault == std::errc{} && end == text.data() + text.size();
  return whole && number >= 0 && number <= number_max ? std::optional(number) : std::nullopt;
}

// "3" is 3.0.
std::optional<Release> release_of(std::string_view text) {
  const auto point = text.find('.');
  const auto major = number_of(text.substr(0, point));
  const auto minor = point == std::string_view::npos ? 0 : number_of(text.substr(point + 1));
  return major && minor ? std::optional(Release{*major, *minor}) : std::nullopt;
}

Error unreadable(const char* expected, std::string_view text) {
  return {ErrorKind::invalid, std::string("expected ") + expected + ", got \"" +
                                  std::string(text.substr(0, name_length_max)) + "\""};
}

bool satisfies(const Capability& capability, const Need& need) {
  if (capability.name != need.name) return false;
  if (need.releases == Releases::from) return capability.release >= need.release;
  return need.releases == Releases::any || capability.release == need.release;
}

std::string words_of(const Need& need) {
  std::string words = need.name == "python" ? "Python" : need.name;
  if (need.releases == Releases::any) return words;
  words += " " + std::to_string(need.release.first) + "." + std::to_string(need.release.second);
  return need.releases == Releases::from ? words + " or newer" : words;
}

}  // namespace

Result<Capability> parse_capability(std::string_view text) {
  const auto space = text.find(' ');
  const std::string_view name = text.substr(0, space);
  const auto release = space == std::string_view::npos ? Release{} : release_of(text.substr(space + 1));
  if (!is_name(name) || !release) return unreadable("a capability, for example \"python 3.11\"", text);
  return Capability{std::string(name), *release};
}

Result<Need> parse_need(std::string_view text) {
  const auto sign = text.find_first_of(">=");
  Need need{std::string(text.substr(0, sign)), Releases::any, {}};
  std::optional<Release> release = Release{};
  if (sign != std::string_view::npos) {
    const std::string_view relation = text.substr(sign, 2);
    need.releases = relation == ">=" ? Releases::from : Releases::only;
    release = relation == ">=" || relation == "==" ? release_of(text.substr(sign + 2)) : std::nullopt;
  }
  if (!is_name(need.name) || !release)
    return unreadable("a need, for example \"python>=3.9\", \"python==3.11\" or \"numpy\"", text);
  need.release = *release;
  return need;
}

bool is_met(std::string_view need, std::span<const std::string> capabilities) {
  const auto wanted = parse_need(need);
  return wanted.ok() && std::ranges::any_of(capabilities, [&](const std::string& text) {
           const auto capability = parse_capability(text);
           return capability.ok() && satisfies(*capability, *wanted);
         });
}

bool are_met(std::span<const std::string> needs, std::span<const std::string> capabilities) {
  return std::ranges::all_of(needs, [&](const std::string& need) { return is_met(need, capabilities); });
}

bool name_modules(std::span<const std::string> needs) {
  return std::ranges::any_of(needs, [](const std::string& text) {
    const auto need = parse_need(text);
    return need.ok() && need->name != "python" && need->name != "glibc";
  });
}

std::string words_of_needs(std::span<const std::string> needs) {
  std::string words;
  for (std::size_t i = 0; i < needs.size(); ++i) {
    const auto need = parse_need(needs[i]);
    words += i == 0 ? "" : i + 1 == needs.size() ? " and " : ", ";
    words += need.ok() ? words_of(*need) : needs[i];
  }
  return words;
}

}  // namespace gleaner
