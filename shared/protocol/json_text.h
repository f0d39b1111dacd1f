// JSON text to a tree, bounded: the text's length before anything is read, nesting and the number of values
// as they come, so that a hostile text never builds more than that. Internal to this room; thread-safe.
#pragma once

#include <boost/json/fwd.hpp>
#include <cstdint>
#include <string_view>

#include "shared/base/result.h"

namespace gleaner::protocol::json {

struct TextBounds {
  std::int64_t bytes_max = 0;
  std::int64_t values_max = 0;
};

// Errors: too_large over a bound, invalid if it is not JSON; they begin with `title`.
[[nodiscard]] Result<boost::json::value> parse_text(std::string_view text, const TextBounds& bounds,
                                                    const char* title);

}  // namespace gleaner::protocol::json
