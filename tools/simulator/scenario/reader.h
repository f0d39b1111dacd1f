// Reads a table of a TOML file key by key. Every mistake (wrong type, out of bounds, unknown key) is
// collected with file, line, key and what was expected; variables keep their defaults then. Internal to this
// module.
#pragma once

#include <toml++/toml.h>

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shared/base/result.h"

namespace gleaner::simulator {

class Mistakes {
 public:
  explicit Mistakes(std::string file) : file_(std::move(file)) {}
  void add(const toml::source_region& where, const std::string& key, const std::string& message);
  [[nodiscard]] bool empty() const { return lines_.empty(); }
  // ok, or all of them, a line each, in the order of the file.
  [[nodiscard]] Status status() const;

 private:
  std::string file_;
  std::vector<std::pair<toml::source_index, std::string>> lines_;
};

class TableReader {
 public:
  // `path`: how keys are called in messages ("fleet.", "" at the top).
  TableReader(const toml::table& table, std::string path, Mistakes& mistakes)
      : table_(table), path_(std::move(path)), mistakes_(mistakes) {}

  // Each reads one key if it is there; whether it is, and fits.
  bool number(const char* key, double& value, double low, double high);
  bool whole(const char* key, std::int64_t& value, std::int64_t low, std::int64_t high);
  bool flag(const char* key, bool& value);
  bool text(const char* key, std::string& value, const std::function<Status(const std::string&)>& check = {});
  bool numbers(const char* key, std::vector<double>& values, double low, double high);
  // A table under `key`, or each of a list of tables.
  void table(const char* key, const std::function<void(TableReader&)>& read);
  void tables(const char* key, const std::function<void(TableReader&)>& read);

  [[nodiscard]] bool has(const char* key) const { return table_.contains(key); }
  // A mistake at `key` (or at the table itself, where the key is missing).
  void mistake(const char* key, const std::string& message);
  // To be called last: what nobody asked for is a mistake.
  void finish();

 private:
  [[nodiscard]] const toml::node* find(const char* key);
  bool expected(const char* key, const toml::node& node, const std::string& what);

  const toml::table& table_;
  std::string path_;
  Mistakes& mistakes_;
  std::vector<std::string> known_;
};

}  // namespace gleaner::simulator
