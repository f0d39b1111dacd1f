// Reading JSON objects with every mistake collected under its place ("objects[3].radius: must be …"). Getters
// return their default after a mistake. Internal to the scene reader.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "apps/raytrace/vector.h"
#include "shared/base/result.h"
#include "shared/json/value.h"

namespace gleaner::raytrace {

inline constexpr double radians_per_degree = 0x1.1df46a2529d39p-6;

struct Mistakes {
  std::vector<std::string> texts;
  void add(const std::string& place, const std::string& text);
  [[nodiscard]] Status status() const;
};

class JsonObject {
 public:
  using Json = json::Value;
  // `json` and `mistakes` must outlive it. A json that is no object is a mistake and reads as an empty one.
  JsonObject(const Json& json, std::string place, Mistakes& mistakes);

  [[nodiscard]] double number(const std::string& key, double low, double high,
                              std::optional<double> fallback);
  [[nodiscard]] int integer(const std::string& key, int low, int high, std::optional<int> fallback);
  [[nodiscard]] bool boolean(const std::string& key, bool fallback);
  [[nodiscard]] std::string text(const std::string& key, std::optional<std::string> fallback);
  // [x, y, z] with each component in [low, high].
  [[nodiscard]] Vector vector(const std::string& key, double low, double high,
                              std::optional<Vector> fallback);
  [[nodiscard]] Vector point(const std::string& key, std::optional<Vector> fallback) {
    return vector(key, -1e6, 1e6, fallback);
  }
  // A point that is not the origin, made a unit vector.
  [[nodiscard]] Vector direction(const std::string& key, std::optional<Vector> fallback);
  // [red, green, blue], or one number for a grey.
  [[nodiscard]] Vector colour(const std::string& key, double high, std::optional<Vector> fallback);
  // An object, array or other value; null if absent (a mistake if required).
  [[nodiscard]] const Json* value(const std::string& key, bool required = false);

  [[nodiscard]] bool has(const std::string& key) const { return json_.contains(key); }
  [[nodiscard]] std::string place_of(const std::string& key) const {
    return place_.empty() ? key : place_ + "." + key;
  }
  void mistake(const std::string& key, const std::string& text) { mistakes_.add(place_of(key), text); }
  [[nodiscard]] Mistakes& mistakes() { return mistakes_; }
  // Call last: keys that nobody asked for are mistakes.
  void finish();

 private:
  std::optional<Vector> read_vector(const Json& value, double low, double high) const;

  const Json& json_;
  const std::string place_;
  Mistakes& mistakes_;
  std::set<std::string> known_;
};

}  // namespace gleaner::raytrace
