#include "tools/simulator/command/instance_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "shared/base/limits.h"
#include "shared/io/files.h"

namespace gleaner::simulator {
namespace {

std::string described(Bounds bounds) {
  if (bounds.high >= 1e300)
    return fmt::format("a number {} {:g}", bounds.low_excluded ? "above" : "of at least", bounds.low);
  return fmt::format("a number from {:g} to {:g}", bounds.low, bounds.high);
}

// A value as the file has it, shortened.
std::string shown(const nlohmann::json& value) {
  std::string text = value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  constexpr std::size_t longest = 40;
  if (text.size() > longest) text = text.substr(0, longest) + "...";
  return text;
}

}  // namespace

const nlohmann::json* InstanceObject::ask(std::string_view key) {
  asked_.emplace_back(key);
  const auto found = json_->find(std::string(key));
  return found == json_->end() || found->is_null() ? nullptr : &*found;
}

Error InstanceObject::mistake(std::string_view key, const std::string& expected) const {
  return {ErrorKind::invalid, fmt::format("{}{}': expected {}", place_, key, expected)};
}

Result<double> InstanceObject::checked(const std::string& key, const nlohmann::json& value,
                                       Bounds bounds) const {
  const bool is_number = value.is_number();
  const double number = is_number ? value.get<double>() : 0;
  const bool low = bounds.low_excluded ? number > bounds.low : number >= bounds.low;
  if (is_number && std::isfinite(number) && low && number <= bounds.high) return number;
  return mistake(key, fmt::format("{}, not {}", described(bounds), shown(value)));
}

Result<double> InstanceObject::number(std::string_view key, Bounds bounds, std::optional<double> fallback) {
  const nlohmann::json* value = ask(key);
  if (value != nullptr) return checked(std::string(key), *value, bounds);
  if (fallback) return *fallback;
  return mistake(key, described(bounds) + "; it is missing");
}

Result<std::int64_t> InstanceObject::whole(std::string_view key, std::int64_t low, std::int64_t high,
                                           std::optional<std::int64_t> fallback) {
  const nlohmann::json* value = ask(key);
  const std::string expected = fmt::format("a whole number from {} to {}", low, high);
  if (value == nullptr)
    return fallback ? Result<std::int64_t>(*fallback) : mistake(key, expected + "; it is missing");
  const bool fits =
      value->is_number_integer() &&
      (!value->is_number_unsigned() || value->get<std::uint64_t>() <= static_cast<std::uint64_t>(high));
  if (fits && value->get<std::int64_t>() >= low && value->get<std::int64_t>() <= high)
    return value->get<std::int64_t>();
  return mistake(key, fmt::format("{}, not {}", expected, shown(*value)));
}

Result<bool> InstanceObject::flag(std::string_view key, bool fallback) {
  const nlohmann::json* value = ask(key);
  if (value == nullptr) return fallback;
  if (value->is_boolean()) return value->get<bool>();
  return mistake(key, fmt::format("true or false, not {}", shown(*value)));
}

Result<std::vector<double>> InstanceObject::numbers(std::string_view key, Bounds bounds, std::size_t most) {
  const nlohmann::json* value = ask(key);
  std::vector<double> numbers;
  if (value == nullptr) return numbers;
  if (!value->is_array()) return mistake(key, fmt::format("a list of numbers, not {}", shown(*value)));
  if (value->size() > most)
    return mistake(key, fmt::format("at most {} numbers, not {}", most, value->size()));
  numbers.reserve(value->size());
  for (const nlohmann::json& element : *value) {
    TRY_ASSIGN(const double number, checked(fmt::format("{}[{}]", key, numbers.size()), element, bounds));
    numbers.push_back(number);
  }
  return numbers;
}

Result<std::vector<InstanceObject>> InstanceObject::objects(std::string_view key, std::size_t most) {
  const nlohmann::json* value = ask(key);
  if (value == nullptr) return mistake(key, "a list of objects; it is missing");
  if (!value->is_array()) return mistake(key, fmt::format("a list of objects, not {}", shown(*value)));
  if (value->size() > most)
    return mistake(key, fmt::format("at most {} objects, not {}", most, value->size()));
  std::vector<InstanceObject> objects;
  for (const nlohmann::json& element : *value) {
    const std::string name = fmt::format("{}[{}]", key, objects.size());
    if (!element.is_object()) return mistake(name, fmt::format("an object, not {}", shown(element)));
    objects.emplace_back(place_ + name + ".", element);
  }
  return objects;
}

Status InstanceObject::nothing_left() const {
  for (const auto& [key, value] : json_->items()) {
    if (std::find(asked_.begin(), asked_.end(), key) != asked_.end()) continue;
    return Error{ErrorKind::invalid,
                 fmt::format("{}{}' is unknown here; expected {}", place_, key, fmt::join(asked_, ", "))};
  }
  return {};
}

Result<InstanceFile> InstanceFile::read(const std::string& path) {
  TRY_ASSIGN(const Bytes bytes, io::real_files().read(path, limits::instance_file_bytes_max));
  InstanceFile file;
  file.path_ = path;
  try {
    file.json_ = std::make_shared<nlohmann::json>(nlohmann::json::parse(bytes.begin(), bytes.end()));
  } catch (const nlohmann::json::exception& error) {
    // "[json.exception.parse_error.101] parse error at line 3, column 5: ..."
    const std::string text = error.what();
    const std::size_t end = text.find("] ");
    return Error{ErrorKind::invalid, fmt::format("{}: not JSON: {}", path,
                                                 end == std::string::npos ? text : text.substr(end + 2))};
  }
  if (!file.json_->is_object()) {
    return Error{ErrorKind::invalid,
                 fmt::format("{}: expected an object in braces, not {}", path, shown(*file.json_))};
  }
  return file;
}

}  // namespace gleaner::simulator
