// What Stage::restore takes for granted of its caller, checked of a line that anybody may have edited. Pure.
#pragma once

#include <string>

#include "server/policy/journal/entry.h"

namespace gleaner::policy {

// Empty, or what is wrong as "KEY: expected ..., got ...".
[[nodiscard]] std::string impossible(const RestoreEvent& event, std::int64_t items);
// The same of one closed unit.
[[nodiscard]] std::string impossible(const RememberEvent& event, std::int64_t items);

}  // namespace gleaner::policy
