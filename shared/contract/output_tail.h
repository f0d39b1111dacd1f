// The last of what a kernel said that is no result, in the order in which it came: standard error and its log
// lines. Pure. Not thread-safe.
#pragma once

#include <string>
#include <string_view>

namespace gleaner::contract {

class OutputTail {
 public:
  void add(std::string_view errors);  // of standard error, as they came
  void add_log(std::string_view line);
  // At most limits::output_bytes_max. May begin within a character.
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace gleaner::contract
