// parameters.json with its mistakes collected, so that who adds a problem sees all of them at once:
//   TRY_ASSIGN(Parameters parameters, problem.parameters());
//   width = parameters.integer("width", {1, 16384}, 840);   // std::nullopt instead of 840: must be given
//   TRY(parameters.finish());
// Each getter notes at most one mistake, names its key, and returns the default or the lower bound then;
// finish() returns them all, unknown keys among them. Errors: invalid, too_large. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/result.h"

namespace gleaner::kit {

template <typename T>
struct Bounds {
  T low;
  T high;
};

class Parameters {
 public:
  // An object of at most limits::parameters_bytes_max bytes and limits::json_depth_max levels. Empty text:
  // {}.
  [[nodiscard]] static Result<Parameters> parse(std::string_view json);
  Parameters(Parameters&&) noexcept;
  Parameters& operator=(Parameters&&) noexcept;
  ~Parameters();

  [[nodiscard]] std::int64_t integer(const std::string& key, Bounds<std::int64_t> bounds,
                                     std::optional<std::int64_t> default_value);
  // Or its text, as numbers with many digits come from command lines.
  [[nodiscard]] double number(const std::string& key, Bounds<double> bounds,
                              std::optional<double> default_value);
  // A number as its text, with as many digits as were given; what the text says is the caller's to check.
  [[nodiscard]] std::string numeral(const std::string& key, std::size_t length_max,
                                    std::optional<std::string> default_value);
  [[nodiscard]] bool boolean(const std::string& key, std::optional<bool> default_value);
  [[nodiscard]] std::string text(const std::string& key, std::size_t length_max,
                                 std::optional<std::string> default_value);
  [[nodiscard]] std::string choice(const std::string& key, const std::vector<std::string>& choices,
                                   std::optional<std::string> default_value);
  [[nodiscard]] bool has(const std::string& key) const;

  // A mistake that only the application sees, such as two keys that contradict each other.
  void mistake(const std::string& key, const std::string& text);
  // Call last.
  [[nodiscard]] Status finish();

 private:
  struct State;
  explicit Parameters(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace gleaner::kit
