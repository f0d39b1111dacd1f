// The request target (RFC 9112 section 3.2.1, origin-form) as a decoded path and query. Pure. Nothing is
// normalised:
// "/a/../b" stays what it is and simply names no route.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "shared/base/result.h"

namespace gleaner::http {

inline constexpr int query_pairs_max = 32;  // our widest request has 6

struct Target {
  std::string path;
  std::map<std::string, std::string> query;
};

// Errors (invalid) for anything but "/path?key=value&...": broken percent-encoding, control characters, bytes
// that are not UTF-8, more than query_pairs_max pairs, a key twice. Messages hold nothing of the input.
[[nodiscard]] Result<Target> parse_target(std::string_view text);

}  // namespace gleaner::http
