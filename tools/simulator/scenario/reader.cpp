#include "tools/simulator/scenario/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace gleaner::simulator {
namespace {

constexpr std::size_t mistakes_max = 50;  // shown; nobody mends more at a time
constexpr std::size_t shown_length = 60;

std::string shown(const toml::node& node) {
  if (node.is_table()) return "a table";
  if (node.is_array_of_tables()) return "a list of tables";
  std::ostringstream text;
  node.visit([&](const auto& value) { text << value; });
  std::string whole = text.str();
  std::replace(whole.begin(), whole.end(), '\n', ' ');
  return whole.size() > shown_length ? whole.substr(0, shown_length) + "..." : whole;
}

}  // namespace

void Mistakes::add(const toml::source_region& where, const std::string& key, const std::string& message) {
  // What --set put there is of another source, or has lost it.
  const bool given = where.begin.line == 0 || (where.path && *where.path != file_);
  const std::string place = !given       ? fmt::format("{}:{}", file_, where.begin.line)
                            : where.path ? *where.path
                                         : "--set";
  lines_.emplace_back(where.begin.line,
                      fmt::format("{}: {}{}{}", place, key, key.empty() ? "" : ": ", message));
}

Status Mistakes::status() const {
  if (lines_.empty()) return {};
  auto sorted = lines_;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string text;
  for (std::size_t i = 0; i < std::min(sorted.size(), mistakes_max); ++i)
    text += (i > 0 ? "\n" : "") + sorted[i].second;
  if (sorted.size() > mistakes_max)
    text += fmt::format("\n{}: and {} more mistakes", file_, sorted.size() - mistakes_max);
  return Error{ErrorKind::invalid, text};
}

const toml::node* TableReader::find(const char* key) {
  known_.emplace_back(key);
  return table_.get(key);
}

bool TableReader::expected(const char* key, const toml::node& node, const std::string& what) {
  mistakes_.add(node.source(), path_ + key, fmt::format("expected {}, got {}", what, shown(node)));
  return false;
}

bool TableReader::number(const char* key, double& value, double low, double high) {
  const toml::node* node = find(key);
  if (node == nullptr) return false;
  const auto given = node->is_number() ? node->value<double>() : std::nullopt;
  if (!given || !(*given >= low && *given <= high))
    return expected(key, *node, fmt::format("a number from {:g} to {:g}", low, high));
  value = *given;
  return true;
}

bool TableReader::whole(const char* key, std::int64_t& value, std::int64_t low, std::int64_t high) {
  const toml::node* node = find(key);
  if (node == nullptr) return false;
  const auto* given = node->as_integer();
  if (given == nullptr || given->get() < low || given->get() > high)
    return expected(key, *node, fmt::format("a whole number from {} to {}", low, high));
  value = given->get();
  return true;
}

bool TableReader::flag(const char* key, bool& value) {
  const toml::node* node = find(key);
  if (node == nullptr) return false;
  if (!node->is_boolean()) return expected(key, *node, "true or false");
  value = node->as_boolean()->get();
  return true;
}

bool TableReader::text(const char* key, std::string& value,
                       const std::function<Status(const std::string&)>& check) {
  const toml::node* node = find(key);
  if (node == nullptr) return false;
  if (!node->is_string()) return expected(key, *node, "a text in quotes");
  if (check) {
    if (const Status status = check(node->as_string()->get()); !status.ok()) {
      mistakes_.add(node->source(), path_ + key, status.error().message);
      return false;
    }
  }
  value = node->as_string()->get();
  return true;
}

bool TableReader::numbers(const char* key, std::vector<double>& values, double low, double high) {
  const toml::node* node = find(key);
  if (node == nullptr) return false;
  const std::string what = fmt::format("a list of numbers from {:g} to {:g}", low, high);
  if (!node->is_array()) return expected(key, *node, what);
  std::vector<double> given;
  for (const toml::node& element : *node->as_array()) {
    const auto number = element.is_number() ? element.value<double>() : std::nullopt;
    if (!number || !(*number >= low && *number <= high)) return expected(key, element, what);
    given.push_back(*number);
  }
  values = std::move(given);
  return true;
}

void TableReader::table(const char* key, const std::function<void(TableReader&)>& read) {
  const toml::node* node = find(key);
  if (node == nullptr) return;
  if (!node->is_table()) {
    expected(key, *node, fmt::format("a table [{}{}]", path_, key));
    return;
  }
  TableReader reader(*node->as_table(), path_ + key + ".", mistakes_);
  read(reader);
  reader.finish();
}

void TableReader::tables(const char* key, const std::function<void(TableReader&)>& read) {
  const toml::node* node = find(key);
  if (node == nullptr) return;
  if (node->is_table()) return table(key, read);
  if (!node->is_array_of_tables()) {
    expected(key, *node, fmt::format("one or more tables [[{}{}]]", path_, key));
    return;
  }
  for (const toml::node& element : *node->as_array()) {
    TableReader reader(*element.as_table(), path_ + key + ".", mistakes_);
    read(reader);
    reader.finish();
  }
}

void TableReader::mistake(const char* key, const std::string& message) {
  const toml::node* node = table_.get(key);
  mistakes_.add(node != nullptr ? node->source() : table_.source(), path_ + key, message);
}

void TableReader::finish() {
  for (const auto& [key, node] : table_) {
    if (std::find(known_.begin(), known_.end(), key.str()) != known_.end()) continue;
    std::string list;
    for (const std::string& known : known_) list += (list.empty() ? "" : ", ") + known;
    mistakes_.add(key.source(), path_ + std::string(key.str()),
                  fmt::format("there is no such key; expected one of {}", list));
  }
}

}  // namespace gleaner::simulator
