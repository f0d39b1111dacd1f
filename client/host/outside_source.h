// Asks what the owner named as the outside signal (client/policy/outside.h). Implemented in client/platform
// (outside_source.cpp). Called on a background queue, one call at a time; blocks for at most `patience`.
#pragma once

#include <string>

#include "shared/base/clock.h"
#include "shared/base/result.h"

namespace gleaner::host {

class OutsideSource {
 public:
  virtual ~OutsideSource() = default;
  // What it said, at most answer_bytes_max. Errors: unavailable, with what went wrong.
  [[nodiscard]] virtual Result<std::string> ask(const std::string& where) = 0;

  static constexpr Duration patience = std::chrono::seconds{10};
  static constexpr std::size_t answer_bytes_max = 4096;
};

}  // namespace gleaner::host
