// A JSON instance of the small commands, read key by key: a mistake is answered with the file, the key and
// what was expected there. Values are bounded by what the caller asks for. Errors: ErrorKind::invalid, io.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/result.h"

namespace gleaner::simulator {

// "above 0", "at least 0": for numbers.
struct Bounds {
  double low = 0;
  double high = 1e300;
  bool low_excluded = false;
};
inline constexpr Bounds above_zero{0, 1e300, true};
inline constexpr Bounds at_least_zero{0, 1e300, false};

// One object of the file. Remembers which keys were asked for, so that a misspelled one is found.
class InstanceObject {
 public:
  InstanceObject(std::string place, const nlohmann::json& json) : place_(std::move(place)), json_(&json) {}

  // Absent: the fallback, or an error if there is none.
  [[nodiscard]] Result<double> number(std::string_view key, Bounds bounds,
                                      std::optional<double> fallback = {});
  [[nodiscard]] Result<std::int64_t> whole(std::string_view key, std::int64_t low, std::int64_t high,
                                           std::optional<std::int64_t> fallback = {});
  [[nodiscard]] Result<bool> flag(std::string_view key, bool fallback);
  // Absent (or null): empty.
  [[nodiscard]] Result<std::vector<double>> numbers(std::string_view key, Bounds bounds, std::size_t most);
  // Objects, or an error if there is no such list.
  [[nodiscard]] Result<std::vector<InstanceObject>> objects(std::string_view key, std::size_t most);
  // An error that names a key nobody asked for.
  [[nodiscard]] Status nothing_left() const;
  // "FILE: key 'hosts[1].speed': expected EXPECTED".
  [[nodiscard]] Error mistake(std::string_view key, const std::string& expected) const;

 private:
  [[nodiscard]] const nlohmann::json* ask(std::string_view key);
  [[nodiscard]] Result<double> checked(const std::string& key, const nlohmann::json& value,
                                       Bounds bounds) const;

  std::string place_;  // "FILE: key '" and the path so far
  const nlohmann::json* json_;
  std::vector<std::string> asked_;
};

// A file that holds one JSON object.
class InstanceFile {
 public:
  [[nodiscard]] static Result<InstanceFile> read(const std::string& path);
  [[nodiscard]] InstanceObject root() const { return {path_ + ": key '", *json_}; }

 private:
  std::string path_;
  std::shared_ptr<nlohmann::json> json_;
};

}  // namespace gleaner::simulator
