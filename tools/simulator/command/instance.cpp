#include "tools/simulator/command/instance.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "shared/base/limits.h"
#include "shared/io/files.h"

namespace gleaner::simulator {
namespace {

std::string shown(const nlohmann::json& value) {
  constexpr std::size_t most = 40;
  std::string text = value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  if (text.size() > most) text = text.substr(0, most) + "...";
  return text;
}

}  // namespace

Result<Instance> Instance::read(const std::string& file) {
  const auto bytes = io::real_files().read(file, limits::instance_bytes_max);
  if (!bytes.ok()) return bytes.error();
  return parse(file, std::string_view(reinterpret_cast<const char*>(bytes->data()), bytes->size()));
}

Result<Instance> Instance::parse(const std::string& file, std::string_view text) {
  Instance instance;
  instance.file_ = file;
  instance.text_ = text;
  try {
    instance.document_ = nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception& mistake) {
    std::string message = mistake.what();
    if (const auto end = message.find("] "); end != std::string::npos) message = message.substr(end + 2);
    return Error{ErrorKind::invalid, fmt::format("{}: not valid JSON: {}", file, message)};
  }
  if (!instance.document_.is_object()) {
    return Error{ErrorKind::invalid,
                 fmt::format("{}: must be a JSON object, not {}", file, shown(instance.document_))};
  }
  return instance;
}

const nlohmann::json* Instance::ask(std::string_view key) {
  asked_.emplace_back(key);
  const auto found = document_.find(key);
  return found == document_.end() ? nullptr : &*found;
}

bool Instance::has(std::string_view key) {
  return ask(key) != nullptr;
}

Error Instance::error(std::string_view place, std::string_view expected) const {
  const std::string key = fmt::format("\"{}\"", place.substr(0, place.find('[')));
  const std::size_t at = text_.find(key);
  if (at == std::string::npos) {
    return {ErrorKind::invalid, fmt::format("{}: {}: {}", file_, place, expected)};
  }
  const auto line = 1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  return {ErrorKind::invalid, fmt::format("{}: line {}: {}: {}", file_, line, place, expected)};
}

Result<double> Instance::number(const nlohmann::json& value, const std::string& place, Zero zero) const {
  const double number = value.is_number() ? value.get<double>() : -1;
  const bool good = std::isfinite(number) && (zero == Zero::allowed ? number >= 0 : number > 0);
  if (good) return number;
  return error(place, fmt::format("must be a number {}, not {}",
                                  zero == Zero::allowed ? "of at least 0" : "above 0", shown(value)));
}

Result<std::vector<double>> Instance::numbers(std::string_view key, Zero zero) {
  const nlohmann::json* list = ask(key);
  if (list == nullptr) return error(key, "is missing: a list of numbers");
  if (!list->is_array()) return error(key, fmt::format("must be a list of numbers, not {}", shown(*list)));
  std::vector<double> numbers;
  for (std::size_t i = 0; i < list->size(); ++i) {
    TRY_ASSIGN(const double one, number((*list)[i], fmt::format("{}[{}]", key, i), zero));
    numbers.push_back(one);
  }
  return numbers;
}

Result<std::vector<double>> Instance::numbers(std::string_view key, Zero zero, std::size_t count,
                                              std::string_view what) {
  TRY_ASSIGN(std::vector<double> numbers, numbers(key, zero));
  if (numbers.size() == count) return numbers;
  return error(key,
               fmt::format("must have a number for each {}, {} in all, not {}", what, count, numbers.size()));
}

Result<std::vector<std::vector<double>>> Instance::table(std::string_view key, std::size_t rows,
                                                         std::size_t columns) {
  const nlohmann::json* list = ask(key);
  if (list == nullptr)
    return error(key, "is missing: a number for each host, or a list of them for each task");
  if (!list->is_array() || list->empty() || !list->front().is_array()) {
    TRY_ASSIGN(std::vector<double> row, numbers(key, Zero::allowed, columns, "host"));
    return std::vector<std::vector<double>>(rows, row);
  }
  if (list->size() != rows) {
    return error(key, fmt::format("must have a list for each task, {} in all, not {}", rows, list->size()));
  }
  std::vector<std::vector<double>> table;
  for (std::size_t i = 0; i < rows; ++i) {
    const nlohmann::json& given = (*list)[i];
    const std::string place = fmt::format("{}[{}]", key, i);
    if (!given.is_array() || given.size() != columns) {
      return error(place, fmt::format("must be a list with a number for each host, {} in all, not {}",
                                      columns, shown(given)));
    }
    std::vector<double> row;
    for (std::size_t j = 0; j < columns; ++j) {
      TRY_ASSIGN(const double one, number(given[j], fmt::format("{}[{}]", place, j), Zero::allowed));
      row.push_back(one);
    }
    table.push_back(std::move(row));
  }
  return table;
}

Result<std::uint64_t> Instance::whole(std::string_view key, std::uint64_t fallback) {
  const nlohmann::json* value = ask(key);
  if (value == nullptr) return fallback;
  if (value->is_number_unsigned()) return value->get<std::uint64_t>();
  return error(key, fmt::format("must be a whole number of at least 0, not {}", shown(*value)));
}

Status Instance::nothing_left() const {
  for (const auto& [key, value] : document_.items()) {
    if (std::find(asked_.begin(), asked_.end(), key) != asked_.end()) continue;
    return error(key, fmt::format("is not known here; the keys are {}", fmt::join(asked_, ", ")));
  }
  return {};
}

}  // namespace gleaner::simulator
