// The name of a host that is a copy of one with the same name, as after its disk was copied. Client, relay
// and server each make it. Stateless and thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "shared/base/ids.h"

namespace gleaner::protocol {

// "lab-pc (2)"; `host`: the copy's own number.
[[nodiscard]] std::string name_of_copy(std::string_view name, HostId host);

}  // namespace gleaner::protocol
