// The last of what a kernel said that is no result, as it came: standard error and its log lines, for who
// looks at it while it runs. Pure. Not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gleaner::contract {

class OutputTail {
 public:
  void add_log(std::string_view line);
  // `tail`: the end of all that was written to standard error so far, `total` bytes. What is longer than
  // `tail` since the last call is missing.
  void add_errors(std::string_view tail, std::int64_t total);
  [[nodiscard]] std::int64_t errors_seen() const { return errors_; }
  // At most limits::output_bytes_max. May be cut within a character.
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  void cut();

  std::string text_;
  std::int64_t errors_ = 0;  // bytes of standard error seen
};

}  // namespace gleaner::contract
