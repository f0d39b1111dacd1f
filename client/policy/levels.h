// Levels: how much of this computer kernels may use while somebody uses it, while nobody does, at night and
// on battery power. Rules: a situation without a level limits nothing beyond the other preferences, but for
// "used" and "battery", which are off then. Where several situations hold, the least of each limit counts.
// Pure. Cost: O(1).
#pragma once

#include <array>
#include <optional>
#include <string>

namespace gleaner::client_policy {

enum class Situation : int { used, idle, night, battery };
inline constexpr int situation_count = 4;

struct Level {
  bool off = false;
  int cores = 0;                          // at most; 0: any
  double cpu_share = 1;                   // of each, (0, 1]
  std::optional<double> temperature_max;  // degrees Celsius
  std::optional<double> fan_rpm_max = {};
  [[nodiscard]] bool limits() const { return cores > 0 || cpu_share < 1; }
};

struct Levels {
  std::array<std::optional<Level>, situation_count> of = {};
  [[nodiscard]] const std::optional<Level>& operator[](Situation one) const {
    return of[static_cast<std::size_t>(one)];
  }
  // May kernels compute in it?
  [[nodiscard]] bool permits(Situation one) const { return (*this)[one] && !(*this)[one]->off; }
};

struct SituatedLevel {
  Situation situation = Situation::used;
  Level level;
};
// "used 1 core 25% 60C 1200rpm", "idle 100%", "battery off"; nothing if it is not of this form.
[[nodiscard]] std::optional<SituatedLevel> parse_level(const std::string& text);

// The least of each limit.
[[nodiscard]] Level least_of(const Level& one, const Level& other);
[[nodiscard]] std::optional<double> least_of(std::optional<double> one, std::optional<double> other);
// "at most 1 core, 25 % of each"; empty if it limits neither.
[[nodiscard]] std::string text_of(const Level& level);

}  // namespace gleaner::client_policy
