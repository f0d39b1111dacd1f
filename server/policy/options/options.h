// The text form of a strategy of any family, "NAME[,key=value...]": reading its options with errors that name
// the key and what it takes. Value type, not thread-safe. Errors: ErrorKind::invalid.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shared/base/result.h"

namespace gleaner::policy {

class StrategyOptions {
 public:
  [[nodiscard]] static Result<StrategyOptions> parse(std::string_view text);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] bool has(std::string_view key) const;
  // The index of the value in `choices`; `fallback` if the key is absent.
  [[nodiscard]] Result<int> choice(std::string_view key, const std::vector<std::string>& choices,
                                   int fallback);
  // A number in [low, high]; `fallback` if the key is absent.
  [[nodiscard]] Result<double> number(std::string_view key, double low, double high, double fallback);
  // A whole number in [low, high]; `fallback` if the key is absent.
  [[nodiscard]] Result<int> whole(std::string_view key, int low, int high, int fallback);
  // The first key that nobody asked for, as an error that lists those the strategy takes.
  [[nodiscard]] Status nothing_left() const;

 private:
  struct Option {
    std::string key;
    std::string value;
  };
  [[nodiscard]] const Option* ask(std::string_view key);

  std::string name_;
  std::vector<Option> options_;
  std::vector<std::string> asked_;
};

// What people may read about a strategy of any family.
struct StrategyInfo {
  std::string name;
  std::string summary;               // one line
  std::string source;                // paper and equations
  std::vector<std::string> options;  // "shrink=single|compound  ..."
};

}  // namespace gleaner::policy
