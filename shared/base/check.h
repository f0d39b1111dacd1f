// Assertions for what must never be, in every build. Never used on input: input gets a Result.
#pragma once

namespace gleaner {
// Prints file, line and condition to standard error and aborts.
[[noreturn]] void check_failed(const char* condition, const char* file, int line);
}  // namespace gleaner

#define CHECK_TRUE(condition)                          \
  (static_cast<bool>(condition) ? static_cast<void>(0) \
                                : ::gleaner::check_failed(#condition, __FILE__, __LINE__))
