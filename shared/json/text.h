// JSON text to a tree and back. Reading is bounded: bytes before anything is read, nesting and the number of
// values as they come, so that a hostile text never builds more than that; numbers are read to the last bit,
// and one that no double holds is an error. Writing never fails. Stateless and thread-safe.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "shared/base/limits.h"
#include "shared/base/result.h"
#include "shared/json/value.h"

namespace gleaner::json {

struct Bounds {
  std::int64_t bytes_max = std::numeric_limits<std::int64_t>::max();
  std::int64_t values_max = std::numeric_limits<std::int64_t>::max();
  int depth_max = limits::json_depth_max;
};

// Errors: too_large over a bound; invalid, "not JSON at line 2, column 8: ..."; unavailable without memory.
[[nodiscard]] Result<Value> parse(std::string_view text, const Bounds& bounds = {});
// Null for what is no JSON, too: for readers who take nothing but an object anyway.
[[nodiscard]] Value parse_or_null(std::string_view text);

struct Layout {
  int indent = -1;      // spaces a level; below 0: all on one line, without blanks
  bool sorted = false;  // members by name: equal documents are equal texts
  bool ascii = false;   // all else escaped
};

// Bytes that are not UTF-8 become U+FFFD, numbers that are not finite null. A double is the shortest text
// that reads as the same, and has a point or an exponent.
[[nodiscard]] std::string write(const Value& value, const Layout& layout = {});

// What write() makes of a double, and of a text: both appended.
void write_double(std::string& to, double value);
void write_string(std::string& to, std::string_view text, bool ascii = false);

}  // namespace gleaner::json
