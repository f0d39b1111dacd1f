#include "shared/io/settings.h"

#include <toml++/toml.h>
#include <algorithm>
#include <sstream>

#include "shared/base/check.h"
#include "shared/base/clean_text.h"
#include "shared/io/settings_text.h"

namespace gleaner::io {
namespace {

constexpr std::size_t text_bytes_max = 1 << 20;
constexpr std::size_t mistakes_max = 50;  // shown; nobody mends more at a time
constexpr std::size_t shown_value_length = 63;

using Assign = std::function<void()>;

// A value as its writer would recognise it.
std::string shown(const toml::node& node) {
  if (node.is_table()) return "a table";
  if (node.is_array_of_tables()) return "a list of tables";
  std::ostringstream text;
  node.visit([&](const auto& value) { text << value; });
  std::string whole = node.is_string() ? toml_string(node.as_string()->get()) : text.str();
  return clean_line(whole, shown_value_length);
}

Error expected(const std::string& what, const toml::node& node) {
  return {ErrorKind::invalid, "expected " + what + ", got " + shown(node)};
}

// Dates and times, which JSON lacks, as their text. The parser bounds how deep it nests.
json::Value json_of(const toml::node& node) {
  if (const auto* table = node.as_table()) {
    std::vector<json::Value::Member> members;
    for (const auto& [key, element] : *table) members.emplace_back(key.str(), json_of(element));
    return json::Value::object(std::move(members));
  }
  if (const auto* array = node.as_array()) {
    std::vector<json::Value> elements;
    for (const toml::node& element : *array) elements.push_back(json_of(element));
    return json::Value::array(std::move(elements));
  }
  if (const auto* value = node.as_string()) return value->get();
  if (const auto* value = node.as_integer()) return value->get();
  if (const auto* value = node.as_floating_point()) return value->get();
  if (const auto* value = node.as_boolean()) return value->get();
  return shown(node);
}

// The mistakes of one file, in the order of their lines.
class Mistakes {
 public:
  explicit Mistakes(const std::string& file) : file_(file) {}

  void add(const toml::source_region& where, const std::string& key, const std::string& message) {
    lines_.emplace_back(where.begin.line, clean_line((key.empty() ? "" : key + ": ") + message));
  }
  [[nodiscard]] Status status() {
    if (lines_.empty()) return {};
    std::stable_sort(lines_.begin(), lines_.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::string text;
    for (std::size_t i = 0; i < std::min(lines_.size(), mistakes_max); ++i)
      text += (i > 0 ? "\n" : "") + file_ + ":" + std::to_string(lines_[i].first) + ": " + lines_[i].second;
    if (lines_.size() > mistakes_max)
      text += "\n" + file_ + ": and " + std::to_string(lines_.size() - mistakes_max) + " more mistakes";
    return Error{ErrorKind::invalid, text};
  }

 private:
  const std::string& file_;
  std::vector<std::pair<toml::source_index, std::string>> lines_;
};

}  // namespace

struct Settings::Entry {
  std::string key;
  std::string comment;
  // Checks the node; what it returns does the assignment.
  std::function<Result<Assign>(const toml::node&)> read;
  // As TOML: the value, or the lines of the table. Empty: only read.
  std::function<std::string()> render;
  bool is_table = false;
};

void Settings::add(std::string key, std::string* value, std::string comment,
                   std::function<Status(const std::string&)> check) {
  const auto read = [value, check = std::move(check)](const toml::node& node) -> Result<Assign> {
    if (!node.is_string()) return expected("a text in quotes", node);
    const std::string& text = node.as_string()->get();
    if (check) TRY(check(text));
    return Assign([value, text] { *value = text; });
  };
  const auto render = [value] { return toml_string(*value); };
  entries_.push_back(std::make_shared<Entry>(Entry{std::move(key), std::move(comment), read, render}));
}

void Settings::add(std::string key, std::int64_t* value, std::int64_t low, std::int64_t high,
                   std::string comment) {
  const auto read = [value, low, high](const toml::node& node) -> Result<Assign> {
    const auto* number = node.as_integer();
    if (number == nullptr || number->get() < low || number->get() > high)
      return expected("a whole number from " + std::to_string(low) + " to " + std::to_string(high), node);
    return Assign([value, given = number->get()] { *value = given; });
  };
  const auto render = [value] { return std::to_string(*value); };
  entries_.push_back(std::make_shared<Entry>(Entry{std::move(key), std::move(comment), read, render}));
}

void Settings::add(std::string key, double* value, double low, double high, std::string comment) {
  const auto read = [value, low, high](const toml::node& node) -> Result<Assign> {
    const auto number = node.is_number() ? node.value<double>() : std::nullopt;
    if (!number || !(*number >= low && *number <= high))
      return expected("a number from " + toml_number(low) + " to " + toml_number(high), node);
    return Assign([value, given = *number] { *value = given; });
  };
  const auto render = [value] { return toml_number(*value); };
  entries_.push_back(std::make_shared<Entry>(Entry{std::move(key), std::move(comment), read, render}));
}

void Settings::add(std::string key, bool* value, std::string comment) {
  const auto read = [value](const toml::node& node) -> Result<Assign> {
    if (!node.is_boolean()) return expected("true or false", node);
    return Assign([value, given = node.as_boolean()->get()] { *value = given; });
  };
  const auto render = [value] { return std::string(*value ? "true" : "false"); };
  entries_.push_back(std::make_shared<Entry>(Entry{std::move(key), std::move(comment), read, render}));
}

void Settings::add(std::string key, std::vector<std::string>* value, std::string comment) {
  const auto read = [value](const toml::node& node) -> Result<Assign> {
    const std::string what = "a list of texts, for example [\"a\", \"b\"]";
    if (!node.is_array()) return expected(what, node);
    std::vector<std::string> texts;
    for (const toml::node& element : *node.as_array()) {
      if (!element.is_string()) return expected(what, node);
      texts.push_back(element.as_string()->get());
    }
    return Assign([value, texts] { *value = texts; });
  };
  const auto render = [value] { return toml_list(*value); };
  entries_.push_back(std::make_shared<Entry>(Entry{std::move(key), std::move(comment), read, render}));
}

void Settings::add(std::string key, std::map<std::string, std::string>* value, std::string comment) {
  const auto read = [value, key](const toml::node& node) -> Result<Assign> {
    if (!node.is_table()) return expected("a table [" + key + "] of texts", node);
    std::map<std::string, std::string> texts;
    for (const auto& [name, element] : *node.as_table()) {
      if (!element.is_string()) return expected("a text in quotes for " + std::string(name.str()), element);
      texts.emplace(name.str(), element.as_string()->get());
    }
    return Assign([value, texts] { *value = texts; });
  };
  const auto render = [value] {
    std::string lines;
    for (const auto& [name, text] : *value) lines += toml_key(name) + " = " + toml_string(text) + "\n";
    return lines;
  };
  entries_.push_back(std::make_shared<Entry>(Entry{std::move(key), std::move(comment), read, render, true}));
}

void Settings::add_tables(std::string key, std::vector<json::Value>* value, std::size_t count_max) {
  const auto read = [value, key, count_max](const toml::node& node) -> Result<Assign> {
    if (!node.is_array_of_tables()) return expected("tables, each under [[" + key + "]]", node);
    if (node.as_array()->size() > count_max)
      return Error{ErrorKind::invalid, "at most " + std::to_string(count_max) + ", not " +
                                           std::to_string(node.as_array()->size())};
    return Assign([value, tables = json_of(node).elements()] { *value = tables; });
  };
  entries_.push_back(std::make_shared<Entry>(Entry{std::move(key), {}, read, {}}));
}

void Settings::add_former(std::string key, bool* named) {
  const auto read = [named](const toml::node&) -> Result<Assign> {
    return Assign([named] { *named = true; });
  };
  entries_.push_back(std::make_shared<Entry>(Entry{std::move(key), {}, read, {}}));
}

Status Settings::parse(std::string_view text, const std::string& file) {
  if (text.size() > text_bytes_max)
    return Error{ErrorKind::too_large, file + " is too large for a settings file: is it the right file?"};
  Mistakes mistakes(file);
  std::vector<Assign> assignments;
  std::vector<std::string> named;

  const auto known_below = [&](const std::string& table) {
    std::string keys;
    const std::string prefix = table.empty() ? "" : table + ".";
    for (const auto& entry : entries_)
      if (entry->key.starts_with(prefix))
        keys += (keys.empty() ? "" : ", ") + entry->key.substr(prefix.size());
    return keys;
  };
  const std::function<void(const toml::table&, const std::string&)> walk = [&](const toml::table& table,
                                                                               const std::string& name) {
    for (const auto& [key, node] : table) {
      const std::string path = (name.empty() ? "" : name + ".") + std::string(key.str());
      const auto entry = std::find_if(entries_.begin(), entries_.end(),
                                      [&](const auto& known) { return known->key == path; });
      if (entry != entries_.end()) {
        auto assign = (*entry)->read(node);
        if (assign.ok()) {
          assignments.push_back(std::move(assign).value());
          named.push_back(path);
        } else {
          mistakes.add(key.source(), path, assign.error().message);
        }
      } else if (const std::string below = known_below(path); below.empty()) {
        mistakes.add(key.source(), path, "unknown key; known here: " + known_below(name));
      } else if (node.is_table()) {
        walk(*node.as_table(), path);
      } else {
        mistakes.add(key.source(), path,
                     "expected a table [" + path + "] with " + below + ", got " + shown(node));
      }
    }
  };
  try {
    walk(toml::parse(text, file), "");
  } catch (const toml::parse_error& error) {
    mistakes.add(error.source(), "", std::string(error.description()));
  }
  TRY(mistakes.status());
  for (const auto& assign : assignments) assign();
  named_ = std::move(named);
  return {};
}

std::string Settings::render() const {
  const auto table_of = [](const Entry& entry) {
    if (entry.is_table) return entry.key;
    const auto dot = entry.key.rfind('.');
    return dot == std::string::npos ? std::string() : entry.key.substr(0, dot);
  };
  // Keys without a table must come before the first table; tables in the order of their declaration.
  std::vector<std::string> tables = {""};
  for (const auto& entry : entries_)
    if (entry->render && std::find(tables.begin(), tables.end(), table_of(*entry)) == tables.end())
      tables.push_back(table_of(*entry));
  std::string text;
  for (const auto& table : tables) {
    if (!table.empty()) text += (text.empty() ? "[" : "\n[") + table + "]\n";
    for (const auto& entry : entries_) {
      if (!entry->render || table_of(*entry) != table) continue;
      text += toml_comment(entry->comment);
      if (entry->is_table) {
        text += entry->render();
      } else {
        text += entry->key.substr(table.empty() ? 0 : table.size() + 1) + " = " + entry->render() + "\n";
      }
    }
  }
  return text;
}

}  // namespace gleaner::io
