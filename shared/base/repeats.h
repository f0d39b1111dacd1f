// A line of a log that could repeat without bound: written at once, then once in a while with a count of how
// often it would have been. Not thread-safe. Pure: the time is an argument.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "shared/base/clock.h"

namespace gleaner {

class Repeats {
 public:
  // What to write now of the line; nothing: it is counted. Another line begins anew.
  [[nodiscard]] std::optional<std::string> say(const std::string& line, SteadyTime now) {
    constexpr Duration pause = std::chrono::minutes{10};
    if (line != line_) {
      line_ = line;
      times_ = 0;
      said_at_ = now;
      return line;
    }
    ++times_;
    if (now - said_at_ < pause) return std::nullopt;
    std::string text =
        line + " (" + std::to_string(times_) + " times in the last " +
        std::to_string(std::chrono::duration_cast<std::chrono::minutes>(now - said_at_).count()) +
        " minutes)";
    said_at_ = now;
    times_ = 0;
    return text;
  }
  // It is over: the same line is news again.
  void clear() { line_.clear(); }

 private:
  std::string line_;
  std::int64_t times_ = 0;
  SteadyTime said_at_{};
};

}  // namespace gleaner
