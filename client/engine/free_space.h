// Checks once a minute whether the disk has room for more work. Not thread-safe.
#pragma once

#include <optional>
#include <string>

#include "shared/base/clock.h"
#include "shared/io/files.h"

namespace gleaner::engine {

class FreeSpace {
 public:
  FreeSpace(const io::Files& files, io::Path root) : files_(files), root_(std::move(root)) {}

  void look(std::int64_t bytes_min, SteadyTime now);
  void look_anew() { looked_.reset(); }  // the owner says something else of it
  // Why no new work is taken, in words; nothing: it is.
  [[nodiscard]] const std::optional<std::string>& shortage() const { return shortage_; }

  static constexpr Duration interval = std::chrono::minutes{1};

 private:
  const io::Files& files_;
  io::Path root_;
  std::optional<std::string> shortage_;
  std::optional<SteadyTime> looked_;
};

}  // namespace gleaner::engine
