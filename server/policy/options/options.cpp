#include "server/policy/options/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace gleaner::policy {
namespace {

constexpr std::size_t text_length_max = 512;

Error invalid(std::string message) {
  return {ErrorKind::invalid, std::move(message)};
}

}  // namespace

Result<StrategyOptions> StrategyOptions::parse(std::string_view text) {
  if (text.size() > text_length_max) {
    return invalid(
        fmt::format("a strategy's text may have {} characters, not {}", text_length_max, text.size()));
  }
  StrategyOptions options;
  std::size_t position = 0;
  for (bool first = true; position <= text.size(); first = false) {
    const std::size_t comma = std::min(text.find(',', position), text.size());
    const std::string_view part = text.substr(position, comma - position);
    position = comma + 1;
    if (first) {
      options.name_ = part;
      continue;
    }
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos || equals == 0 || equals + 1 == part.size()) {
      return invalid(fmt::format("strategy '{}': '{}' must have the form key=value", options.name_, part));
    }
    const std::string key(part.substr(0, equals));
    if (options.has(key))
      return invalid(fmt::format("strategy '{}': '{}' is given twice", options.name_, key));
    options.options_.push_back({key, std::string(part.substr(equals + 1))});
  }
  return options;
}

bool StrategyOptions::has(std::string_view key) const {
  return std::any_of(options_.begin(), options_.end(),
                     [&](const Option& option) { return option.key == key; });
}

const StrategyOptions::Option* StrategyOptions::ask(std::string_view key) {
  asked_.emplace_back(key);
  const auto found =
      std::find_if(options_.begin(), options_.end(), [&](const Option& option) { return option.key == key; });
  return found == options_.end() ? nullptr : &*found;
}

Result<int> StrategyOptions::choice(std::string_view key, const std::vector<std::string>& choices,
                                    int fallback) {
  const Option* option = ask(key);
  if (option == nullptr) return fallback;
  const auto found = std::find(choices.begin(), choices.end(), option->value);
  if (found == choices.end()) {
    return invalid(fmt::format("strategy '{}': {} takes {}, not '{}'", name_, key, fmt::join(choices, "|"),
                               option->value));
  }
  return static_cast<int>(found - choices.begin());
}

Result<double> StrategyOptions::number(std::string_view key, double low, double high, double fallback) {
  const Option* option = ask(key);
  if (option == nullptr) return fallback;
  double value = 0;
  const char* end = option->value.data() + option->value.size();
  const auto [stop, error] = std::from_chars(option->value.data(), end, value);
  if (error != std::errc{} || stop != end || !std::isfinite(value) || value < low || value > high) {
    return invalid(fmt::format("strategy '{}': {} takes a number from {:g} to {:g}, not '{}'", name_, key,
                               low, high, option->value));
  }
  return value;
}

Result<int> StrategyOptions::whole(std::string_view key, int low, int high, int fallback) {
  TRY_ASSIGN(const double value, number(key, low, high, fallback));
  if (value != std::floor(value)) {
    return invalid(fmt::format("strategy '{}': {} takes a whole number from {} to {}, not {}", name_, key,
                               low, high, value));
  }
  return static_cast<int>(value);
}

Status StrategyOptions::nothing_left() const {
  for (const Option& option : options_) {
    if (std::find(asked_.begin(), asked_.end(), option.key) != asked_.end()) continue;
    return invalid(fmt::format("strategy '{}' has no option '{}'; it takes {}", name_, option.key,
                               fmt::join(asked_, ", ")));
  }
  return {};
}

}  // namespace gleaner::policy
