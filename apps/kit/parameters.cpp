#include "apps/kit/parameters.h"

#include <charconv>
#include <cmath>
#include <set>

#include "shared/base/limits.h"
#include "shared/json/text.h"

namespace gleaner::kit {
namespace {

using Json = json::Value;

// Values are echoed in messages, but not a whole book of them.
std::string shown(const Json& value) {
  std::string text = json::write(value, {-1, false, true});
  if (text.size() > 40) text = text.substr(0, 37) + "...";
  return text;
}

std::string shown(double value) {
  return json::write(value);
}

std::optional<double> number_of(const Json& value) {
  if (value.is_number()) return value.number();
  if (!value.is_string()) return std::nullopt;
  const auto& text = value.string();
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

struct Parameters::State {
  Json object;
  std::set<std::string> known;
  std::vector<std::string> mistakes;

  // The value of `key`; null (and a mistake if it must be given) when absent.
  const Json* find(const std::string& key, bool required) {
    known.insert(key);
    if (const Json* found = object.find(key)) return found;
    if (required) mistakes.push_back(key + ": must be given");
    return nullptr;
  }
};

Parameters::Parameters(std::unique_ptr<State> state) : state_(std::move(state)) {}
Parameters::Parameters(Parameters&&) noexcept = default;
Parameters& Parameters::operator=(Parameters&&) noexcept = default;
Parameters::~Parameters() = default;

Result<Parameters> Parameters::parse(std::string_view text) {
  if (text.size() > static_cast<std::size_t>(limits::parameters_bytes_max)) {
    return Error{ErrorKind::too_large, "the parameters are larger than 1 MiB: give large data as an input"};
  }
  auto state = std::make_unique<State>();
  state->object = Json::object();
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return Parameters(std::move(state));
  auto parsed = json::parse(text);
  if (!parsed.ok()) return parsed.error().within("the parameters");
  state->object = std::move(parsed).value();
  if (!state->object.is_object()) {
    return Error{ErrorKind::invalid, "the parameters must be a JSON object, such as {\"width\": 840}"};
  }
  return Parameters(std::move(state));
}

std::int64_t Parameters::integer(const std::string& key, Bounds<std::int64_t> bounds,
                                 std::optional<std::int64_t> default_value) {
  const std::int64_t fallback = default_value.value_or(bounds.low);
  const Json* value = state_->find(key, !default_value);
  if (!value) return fallback;
  if (value->is_integer() && value->integer() >= bounds.low && value->integer() <= bounds.high)
    return value->integer();
  mistake(key, "must be a whole number from " + std::to_string(bounds.low) + " to " +
                   std::to_string(bounds.high) + ", not " + shown(*value));
  return fallback;
}

double Parameters::number(const std::string& key, Bounds<double> bounds,
                          std::optional<double> default_value) {
  const double fallback = default_value.value_or(bounds.low);
  const Json* value = state_->find(key, !default_value);
  if (!value) return fallback;
  const std::optional<double> number = number_of(*value);
  if (number && std::isfinite(*number) && *number >= bounds.low && *number <= bounds.high) return *number;
  mistake(key, "must be a number from " + shown(bounds.low) + " to " + shown(bounds.high) + ", not " +
                   shown(*value));
  return fallback;
}

bool Parameters::boolean(const std::string& key, std::optional<bool> default_value) {
  const Json* value = state_->find(key, !default_value);
  if (!value) return default_value.value_or(false);
  if (value->is_boolean()) return value->boolean();
  mistake(key, "must be true or false, not " + shown(*value));
  return default_value.value_or(false);
}

std::string Parameters::text(const std::string& key, std::size_t length_max,
                             std::optional<std::string> default_value) {
  const Json* value = state_->find(key, !default_value);
  if (!value) return default_value.value_or("");
  if (value->is_string() && value->string().size() <= length_max) {
    return value->string();
  }
  mistake(key, "must be a text of at most " + std::to_string(length_max) + " bytes, not " + shown(*value));
  return default_value.value_or("");
}

std::string Parameters::numeral(const std::string& key, std::size_t length_max,
                                std::optional<std::string> default_value) {
  const Json* value = state_->find(key, !default_value);
  if (value && value->is_number()) return json::write(*value);
  return value ? text(key, length_max, std::move(default_value)) : default_value.value_or("");
}

std::string Parameters::choice(const std::string& key, const std::vector<std::string>& choices,
                               std::optional<std::string> default_value) {
  CHECK_TRUE(!choices.empty());
  const std::string fallback = default_value.value_or(choices.front());
  const Json* value = state_->find(key, !default_value);
  if (!value) return fallback;
  std::string listed;
  for (const std::string& choice : choices) {
    if (value->is_string() && value->string() == choice) return choice;
    listed += (listed.empty() ? "\"" : ", \"") + choice + "\"";
  }
  mistake(key, "must be one of " + listed + ", not " + shown(*value));
  return fallback;
}

bool Parameters::has(const std::string& key) const {
  return state_->object.contains(key);
}

void Parameters::mistake(const std::string& key, const std::string& text) {
  state_->mistakes.push_back(key + ": " + text);
}

Status Parameters::finish() {
  for (const auto& [key, value] : state_->object.members()) {
    if (!state_->known.contains(key)) mistake(shown(Json(key)), "there is no such parameter");
  }
  if (state_->mistakes.empty()) return {};
  std::string all;
  for (const std::string& mistake : state_->mistakes) {
    if (all.size() + mistake.size() > static_cast<std::size_t>(limits::message_length_max) - 16) {
      all += "; and more";
      break;
    }
    all += (all.empty() ? "" : "; ") + mistake;
  }
  return Error{ErrorKind::invalid, all};
}

}  // namespace gleaner::kit
