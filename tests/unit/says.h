// What a message to people must say.
#pragma once

#include <string>

#include "tests/catch.h"

namespace gleaner {

// True if `message` has `part` in it; else the test fails and shows the message.
inline bool says(const std::string& message, const std::string& part) {
  INFO(message);
  const bool found = message.find(part) != std::string::npos;
  CHECK(found);
  return found;
}

}  // namespace gleaner
