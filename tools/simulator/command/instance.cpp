#include "tools/simulator/command/instance.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "shared/base/limits.h"
#include "shared/io/files.h"
#include "shared/json/text.h"

namespace gleaner::simulator {
namespace {

std::string described(Bounds bounds) {
  if (bounds.high >= 1e300) {
    return bounds.low_excluded ? fmt::format("a number above {:g}", bounds.low)
                               : fmt::format("a number from {:g} on", bounds.low);
  }
  return fmt::format("a number from {:g} to {:g}", bounds.low, bounds.high);
}

// A value as the file has it, shortened.
std::string shown(const json::Value& value) {
  constexpr std::size_t longest = 40;
  std::string text = json::write(value, {-1, false, true});
  if (text.size() > longest) text = text.substr(0, longest) + "...";
  return text;
}

std::string instead_of(std::string_view expected, const json::Value& value) {
  return fmt::format("{}, got {}", expected, shown(value));
}

}  // namespace

Result<Instance> Instance::read(const std::string& file) {
  TRY_ASSIGN(const Bytes bytes, io::real_files().read(file, limits::instance_bytes_max));
  return parse(file, std::string(bytes.begin(), bytes.end()));
}

Result<Instance> Instance::parse(const std::string& file, std::string text) {
  auto content = std::make_shared<File>();
  content->name = file;
  content->text = std::move(text);
  auto parsed = json::parse(content->text);
  if (!parsed.ok()) return parsed.error().within(file);
  content->document = std::move(parsed).value();
  const json::Value& document = content->document;
  if (!document.is_object())
    return Error{ErrorKind::invalid,
                 fmt::format("{}: expected {}", file, instead_of("an object in braces", document))};
  return Instance(std::move(content), "", document);
}

const json::Value* Instance::ask(std::string_view key) {
  asked_.emplace_back(key);
  const json::Value* found = object_->find(key);
  return found == nullptr || found->is_null() ? nullptr : found;
}

bool Instance::has(std::string_view key) {
  return ask(key) != nullptr;
}

Error Instance::at(std::string_view key, std::string_view text) const {
  const std::string path = place_ + std::string(key);
  const std::string& whole = file_->text;
  const std::size_t begin = whole.find(fmt::format("\"{}\"", path.substr(0, path.find_first_of("[."))));
  const auto line =
      begin == std::string::npos
          ? 1
          : 1 + std::count(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(begin), '\n');
  return {ErrorKind::invalid, fmt::format("{}:{}: {}: {}", file_->name, line, path, text)};
}

Error Instance::mistake(std::string_view key, std::string_view expected) const {
  return at(key, fmt::format("expected {}", expected));
}

Result<double> Instance::checked(const std::string& key, const json::Value& value, Bounds bounds) const {
  const bool is_number = value.is_number();
  const double number = is_number ? value.number() : 0;
  const bool low = bounds.low_excluded ? number > bounds.low : number >= bounds.low;
  if (is_number && std::isfinite(number) && low && number <= bounds.high) return number;
  return mistake(key, instead_of(described(bounds), value));
}

Result<double> Instance::number(std::string_view key, Bounds bounds, std::optional<double> fallback) {
  const json::Value* value = ask(key);
  if (value != nullptr) return checked(std::string(key), *value, bounds);
  if (fallback) return *fallback;
  return mistake(key, described(bounds) + "; it is missing");
}

Result<std::int64_t> Instance::whole(std::string_view key, std::int64_t low, std::int64_t high,
                                     std::optional<std::int64_t> fallback) {
  const json::Value* value = ask(key);
  const std::string expected = fmt::format("a whole number from {} to {}", low, high);
  if (value == nullptr)
    return fallback ? Result<std::int64_t>(*fallback) : mistake(key, expected + "; it is missing");
  if (value->is_integer() && value->integer() >= low && value->integer() <= high) return value->integer();
  return mistake(key, instead_of(expected, *value));
}

Result<bool> Instance::flag(std::string_view key, bool fallback) {
  const json::Value* value = ask(key);
  if (value == nullptr) return fallback;
  if (value->is_boolean()) return value->boolean();
  return mistake(key, instead_of("true or false", *value));
}

Result<std::vector<double>> Instance::listed(const std::string& key, const json::Value& list,
                                             Bounds bounds) const {
  std::vector<double> numbers;
  numbers.reserve(list.size());
  for (const json::Value& element : list.elements()) {
    TRY_ASSIGN(const double number, checked(fmt::format("{}[{}]", key, numbers.size()), element, bounds));
    numbers.push_back(number);
  }
  return numbers;
}

Result<std::vector<double>> Instance::numbers(std::string_view key, Bounds bounds, std::size_t most) {
  const json::Value* list = ask(key);
  if (list == nullptr) return mistake(key, "a list of numbers; it is missing");
  if (!list->is_array()) return mistake(key, instead_of("a list of numbers", *list));
  if (list->size() > most) return mistake(key, fmt::format("at most {} numbers, got {}", most, list->size()));
  return listed(std::string(key), *list, bounds);
}

Result<std::vector<double>> Instance::numbers_for(std::string_view key, Bounds bounds, std::size_t count,
                                                  std::string_view what) {
  TRY_ASSIGN(std::vector<double> found, numbers(key, bounds, std::max<std::size_t>(count, 1) * 2));
  if (found.size() == count) return found;
  return mistake(key, fmt::format("a number for each {}, {} in all, got {}", what, count, found.size()));
}

Result<std::vector<std::vector<double>>> Instance::table(std::string_view key, std::size_t rows,
                                                         std::size_t columns) {
  const json::Value* list = ask(key);
  if (list == nullptr || !list->is_array() || list->empty() || !(*list)[0].is_array()) {
    TRY_ASSIGN(std::vector<double> row, numbers_for(key, at_least_zero, columns, "host"));
    return std::vector<std::vector<double>>(rows, row);
  }
  if (list->size() != rows)
    return mistake(key, fmt::format("a list for each task, {} in all, got {}", rows, list->size()));
  std::vector<std::vector<double>> table;
  for (const json::Value& given : list->elements()) {
    const std::string place = fmt::format("{}[{}]", key, table.size());
    if (!given.is_array() || given.size() != columns)
      return mistake(
          place, instead_of(fmt::format("a list with a number for each host, {} in all", columns), given));
    TRY_ASSIGN(std::vector<double> row, listed(place, given, at_least_zero));
    table.push_back(std::move(row));
  }
  return table;
}

Result<std::vector<Instance>> Instance::objects(std::string_view key, std::size_t most) {
  const json::Value* list = ask(key);
  if (list == nullptr) return mistake(key, "a list of objects; it is missing");
  if (!list->is_array()) return mistake(key, instead_of("a list of objects", *list));
  if (list->size() > most) return mistake(key, fmt::format("at most {} objects, got {}", most, list->size()));
  std::vector<Instance> objects;
  for (const json::Value& element : list->elements()) {
    const std::string name = fmt::format("{}[{}]", key, objects.size());
    if (!element.is_object()) return mistake(name, instead_of("an object", element));
    objects.push_back(Instance(file_, place_ + name + ".", element));
  }
  return objects;
}

Status Instance::nothing_left() const {
  for (const auto& [key, value] : object_->members()) {
    if (std::find(asked_.begin(), asked_.end(), key) != asked_.end()) continue;
    return at(key, fmt::format("is not known here; the keys are {}", fmt::join(asked_, ", ")));
  }
  return {};
}

}  // namespace gleaner::simulator
