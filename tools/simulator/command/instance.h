// A small JSON file that describes one problem instance, read key by key. Every error names the file, the
// line where the key stands, the key, and what was expected: "a.json: line 3: rates[2]: must be a number
// above 0, not -1". Errors: invalid, io, too_large. Not thread-safe.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/result.h"

namespace gleaner::simulator {

enum class Zero : int { allowed = 0, refused = 1 };

class Instance {
 public:
  [[nodiscard]] static Result<Instance> read(const std::string& file);
  [[nodiscard]] static Result<Instance> parse(const std::string& file, std::string_view text);

  [[nodiscard]] bool has(std::string_view key);
  // The list of numbers under the key: finite, not negative, and above 0 if zero is refused.
  [[nodiscard]] Result<std::vector<double>> numbers(std::string_view key, Zero zero);
  // The same with exactly `count` entries; `what` they are, one each of: "host".
  [[nodiscard]] Result<std::vector<double>> numbers(std::string_view key, Zero zero, std::size_t count,
                                                    std::string_view what);
  // A list of lists: `rows` of `columns` numbers each; or a list of `columns` numbers for all rows.
  [[nodiscard]] Result<std::vector<std::vector<double>>> table(std::string_view key, std::size_t rows,
                                                               std::size_t columns);
  [[nodiscard]] Result<std::uint64_t> whole(std::string_view key, std::uint64_t fallback);
  // The first key that nobody asked for, as an error.
  [[nodiscard]] Status nothing_left() const;
  // An error at this key.
  [[nodiscard]] Error error(std::string_view key, std::string_view expected) const;

 private:
  [[nodiscard]] Result<double> number(const nlohmann::json& value, const std::string& place, Zero zero) const;
  [[nodiscard]] const nlohmann::json* ask(std::string_view key);

  std::string file_;
  std::string text_;
  nlohmann::json document_;
  std::vector<std::string> asked_;
};

}  // namespace gleaner::simulator
