#include "client/policy/levels.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>
#include <vector>

#include "shared/base/figures.h"

namespace gleaner::client_policy {
namespace {

constexpr std::array<const char*, situation_count> situation_names = {"used", "idle", "night", "battery"};
constexpr int cores_max = 4096;
constexpr double degrees_min = 30, degrees_max = 110;
constexpr double rpm_min = 100, rpm_max = 40'000;

// The number before `unit`, which ends the word.
std::optional<double> number_before(const std::string& word, const std::string& unit) {
  if (!word.ends_with(unit)) return std::nullopt;
  double number = 0;
  const char* const end = word.data() + word.size() - unit.size();
  const auto [at, failed] = std::from_chars(word.data(), end, number);
  if (failed != std::errc{} || at != end || !std::isfinite(number)) return std::nullopt;
  return number;
}

// One limit, said by `word` and, of cores, the word `next`; how many words that were, 0: none.
int add_limit(Level& level, const std::string& word, const std::string& next) {
  if (const auto percent = number_before(word, "%"); percent && *percent >= 1 && *percent <= 100) {
    level.cpu_share = *percent / 100;
    return 1;
  }
  if (const auto degrees = number_before(word, "C");
      degrees && *degrees >= degrees_min && *degrees <= degrees_max) {
    level.temperature_max = *degrees;
    return 1;
  }
  if (const auto rpm = number_before(word, "rpm"); rpm && *rpm >= rpm_min && *rpm <= rpm_max) {
    level.fan_rpm_max = *rpm;
    return 1;
  }
  const auto cores = number_before(word, "");
  if (!cores || *cores < 1 || *cores > cores_max || *cores != std::floor(*cores)) return 0;
  if (next != "core" && next != "cores") return 0;
  level.cores = static_cast<int>(*cores);
  return 2;
}

}  // namespace

std::optional<SituatedLevel> parse_level(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  if (words.size() < 2) return std::nullopt;
  const auto name = std::find(situation_names.begin(), situation_names.end(), words.front());
  if (name == situation_names.end()) return std::nullopt;
  SituatedLevel found;
  found.situation = static_cast<Situation>(name - situation_names.begin());
  if (words[1] == "off") {
    found.level.off = true;
    return words.size() == 2 ? std::optional(found) : std::nullopt;
  }
  for (std::size_t at = 1; at < words.size();) {
    const int read = add_limit(found.level, words[at], at + 1 < words.size() ? words[at + 1] : "");
    if (read == 0) return std::nullopt;
    at += static_cast<std::size_t>(read);
  }
  return found;
}

std::optional<double> least_of(std::optional<double> one, std::optional<double> other) {
  return one && other ? std::min(one, other) : one ? one : other;
}

Level least_of(const Level& one, const Level& other) {
  Level least;
  least.off = one.off || other.off;
  least.cores = one.cores == 0     ? other.cores
                : other.cores == 0 ? one.cores
                                   : std::min(one.cores, other.cores);
  least.cpu_share = std::min(one.cpu_share, other.cpu_share);
  least.temperature_max = least_of(one.temperature_max, other.temperature_max);
  least.fan_rpm_max = least_of(one.fan_rpm_max, other.fan_rpm_max);
  return least;
}

std::string text_of(const Level& level) {
  if (!level.limits()) return {};
  std::string text = "at most ";
  if (level.cores > 0) text += counted(level.cores, "core");
  if (level.cpu_share >= 1) return text;
  if (level.cores > 0) text += ", ";
  return text + std::to_string(std::lround(100 * level.cpu_share)) +
         (level.cores == 1  ? " % of it"
          : level.cores > 0 ? " % of each"
                            : " % of each core");
}

}  // namespace gleaner::client_policy
