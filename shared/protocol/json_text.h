// JSON text to a tree, bounded before anything is built: the text's length, its nesting and its number of
// values are counted in one pass over the bytes, then the library parses it. Internal to this room;
// thread-safe.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "shared/base/result.h"

namespace gleaner::protocol::json {

struct TextBounds {
  std::int64_t bytes_max = 0;
  std::int64_t values_max = 0;
};

// Errors: too_large over a bound, invalid if it is not JSON; they begin with `title`.
[[nodiscard]] Status check_bounds(std::string_view text, const TextBounds& bounds, const char* title);
[[nodiscard]] Result<nlohmann::json> parse_text(std::string_view text, const TextBounds& bounds,
                                                const char* title);

}  // namespace gleaner::protocol::json
