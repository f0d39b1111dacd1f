// The author's program that decides whether two results of one item are equal: `PROGRAM FILE FILE`, in the
// manager's working directory, without input. Exit status 0: they are; 1: they are not, and the first line
// that it prints says how. Any other end, also after 30 s for all files of an item, and a Python exception,
// are failures of the program. A failure counts as a difference, since what a volunteer computed must not
// stop the comparison, and its text begins with failure_mark. The files are named compare-1.EXT and
// compare-2.EXT.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>

#include "shared/base/result.h"

namespace gleaner::wrap {

inline constexpr std::string_view failure_mark = "failed: ";  // apps/CONTRACT.md, `compare`

class Comparison {
 public:
  using Clock = std::chrono::steady_clock;
  explicit Comparison(std::filesystem::path program, Clock::duration patience = std::chrono::seconds{30})
      : program_(std::move(program)), end_(Clock::now() + patience) {}
  [[nodiscard]] bool late() const { return Clock::now() >= end_; }
  // Empty: equal; else how they differ.
  [[nodiscard]] Result<std::string> of(const std::string& ending, std::string_view one,
                                       std::string_view other) const;

 private:
  [[nodiscard]] Result<std::string> run(const std::string& one, const std::string& other) const;
  std::filesystem::path program_;
  Clock::time_point end_;  // of all that it is asked
};

}  // namespace gleaner::wrap
