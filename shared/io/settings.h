// Typed settings files (TOML). Every key is declared with a type, a default and a comment; unknown keys,
// wrong types and values out of bounds are errors that name file, line, key and what was expected.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/result.h"
#include "shared/json/value.h"

namespace gleaner::io {

class Settings {
 public:
  // Each declares one key (dotted: "server.port") bound to a variable that holds the default.
  void add(std::string key, std::string* value, std::string comment,
           std::function<Status(const std::string&)> check = {});
  void add(std::string key, std::int64_t* value, std::int64_t low, std::int64_t high, std::string comment);
  void add(std::string key, double* value, double low, double high, std::string comment);
  void add(std::string key, bool* value, std::string comment);
  void add(std::string key, std::vector<std::string>* value, std::string comment);
  // A table of strings under names that the file chooses ("kernel" for [kernel]); replaces all of the
  // default.
  void add(std::string key, std::map<std::string, std::string>* value, std::string comment);
  // Tables in their order ([[key]] for each), as objects; what is in them is the caller's to check, at most
  // `count_max` of them. Only read: render() leaves it out.
  void add_tables(std::string key, std::vector<json::Value>* value, std::size_t count_max);

  // A key that counts no more: whatever a file says of it is accepted, and `named` becomes true. Not
  // rendered.
  void add_former(std::string key, bool* named);

  // Reads `text` (at most 1 MiB) into the variables. `file` is for messages only. On an error nothing is
  // changed, and the message lists every mistake, a line each: "server.toml:12: port: expected a whole number
  // from 1 to 65535, got 0".
  [[nodiscard]] Status parse(std::string_view text, const std::string& file);
  // The keys that the last text named that was read.
  [[nodiscard]] const std::vector<std::string>& named() const { return named_; }
  // The commented file with the variables' present values.
  [[nodiscard]] std::string render() const;

 private:
  struct Entry;
  std::vector<std::shared_ptr<Entry>> entries_;
  std::vector<std::string> named_;
};

}  // namespace gleaner::io
