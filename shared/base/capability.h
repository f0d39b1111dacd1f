// Capabilities of a computer, and needs of an application. A capability is a name and a version of two
// numbers: "python 3.11". A need names a capability and the versions that satisfy it: "numpy", "python>=3.9",
// "python==3.11". Values; thread-safe. Errors: invalid.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shared/base/result.h"

namespace gleaner {

using Release = std::pair<int, int>;  // major, minor; a capability without a version has 0.0

struct Capability {
  std::string name;  // a-z, 0-9, '-' and '_'
  Release release;
};
[[nodiscard]] Result<Capability> parse_capability(std::string_view text);

enum class Releases { any, from, only };
struct Need {
  std::string name;
  Releases releases = Releases::any;
  Release release;
};
[[nodiscard]] Result<Need> parse_need(std::string_view text);

// False for a need or a capability that cannot be read.
[[nodiscard]] bool is_met(std::string_view need, std::span<const std::string> capabilities);
[[nodiscard]] bool are_met(std::span<const std::string> needs, std::span<const std::string> capabilities);
// Do they name modules of an interpreter, such as "numpy", beside the interpreter and the C library?
[[nodiscard]] bool name_modules(std::span<const std::string> needs);
// For people: "Python 3.9 or newer and numpy".
[[nodiscard]] std::string words_of_needs(std::span<const std::string> needs);

}  // namespace gleaner
