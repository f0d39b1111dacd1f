#include "apps/raytrace/scene_json.h"

#include <cmath>

#include "shared/json/text.h"

namespace gleaner::raytrace {
namespace {

std::string shown(double value) {
  return json::write(value);
}

std::string bounds(double low, double high) {
  return "from " + shown(low) + " to " + shown(high);
}

}  // namespace

void Mistakes::add(const std::string& place, const std::string& text) {
  constexpr std::size_t texts_max = 20;
  if (texts.size() < texts_max) texts.push_back((place.empty() ? "the scene" : place) + ": " + text);
}

Status Mistakes::status() const {
  if (texts.empty()) return {};
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : "; ") + text;
  return Error{ErrorKind::invalid, all};
}

JsonObject::JsonObject(const Json& json, std::string place, Mistakes& mistakes)
    : json_(json), place_(std::move(place)), mistakes_(mistakes) {
  if (!json.is_object()) mistakes_.add(place_, "must be an object {…}");
}

const JsonObject::Json* JsonObject::value(const std::string& key, bool required) {
  known_.insert(key);
  if (const Json* found = json_.find(key)) return found;
  if (required) mistake(key, "must be given");
  return nullptr;
}

double JsonObject::number(const std::string& key, double low, double high, std::optional<double> fallback) {
  const Json* json = value(key, !fallback);
  if (json) {
    const double number = json->is_number() ? json->number() : NAN;
    if (number >= low && number <= high) return number;
    mistake(key, "must be a number " + bounds(low, high));
  }
  return fallback.value_or(low);
}

int JsonObject::integer(const std::string& key, int low, int high, std::optional<int> fallback) {
  const Json* json = value(key, !fallback);
  if (json) {
    const double number = json->is_integer() ? json->number() : NAN;
    if (number >= low && number <= high) return static_cast<int>(number);
    mistake(key, "must be a whole number from " + std::to_string(low) + " to " + std::to_string(high));
  }
  return fallback.value_or(low);
}

bool JsonObject::boolean(const std::string& key, bool fallback) {
  const Json* json = value(key);
  if (json && !json->is_boolean()) mistake(key, "must be true or false");
  return json && json->is_boolean() ? json->boolean() : fallback;
}

std::string JsonObject::text(const std::string& key, std::optional<std::string> fallback) {
  const Json* json = value(key, !fallback);
  if (json && json->is_string() && json->string().size() <= 200) {
    return json->string();
  }
  if (json) mistake(key, "must be a text of at most 200 bytes");
  return fallback.value_or("");
}

std::optional<Vector> JsonObject::read_vector(const Json& json, double low, double high) const {
  if (!json.is_array() || json.size() != 3) return std::nullopt;
  double component[3];
  for (std::size_t i = 0; i < 3; ++i) {
    component[i] = json[i].is_number() ? json[i].number() : NAN;
    if (!(component[i] >= low && component[i] <= high)) return std::nullopt;
  }
  return Vector{component[0], component[1], component[2]};
}

Vector JsonObject::vector(const std::string& key, double low, double high, std::optional<Vector> fallback) {
  const Json* json = value(key, !fallback);
  if (json) {
    if (const auto vector = read_vector(*json, low, high)) return *vector;
    mistake(key, "must be three numbers [x, y, z] " + bounds(low, high));
  }
  return fallback.value_or(Vector{});
}

Vector JsonObject::direction(const std::string& key, std::optional<Vector> fallback) {
  const Vector vector = point(key, fallback);
  if (length(vector) > 1e-6) return normalized(vector);
  if (has(key)) mistake(key, "must not be [0, 0, 0]");
  return {0, 1, 0};
}

Vector JsonObject::colour(const std::string& key, double high, std::optional<Vector> fallback) {
  const Json* json = value(key, !fallback);
  if (json) {
    const double grey = json->is_number() ? json->number() : NAN;
    if (grey >= 0 && grey <= high) return {grey, grey, grey};
    if (const auto vector = read_vector(*json, 0, high)) return *vector;
    mistake(key, "must be a colour [red, green, blue] or a grey, " + bounds(0, high));
  }
  return fallback.value_or(Vector{});
}

void JsonObject::finish() {
  for (const auto& [key, json] : json_.members()) {
    if (!known_.contains(key)) mistake(key.substr(0, 64), "there is no such key here");
  }
}

}  // namespace gleaner::raytrace
