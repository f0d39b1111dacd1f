// How long hosts wait at a relay for what its parent may give it.
#pragma once

#include "shared/base/clock.h"

namespace gleaner::service {

// The longest wait of a host is half of transport::control_timeout. That of a relay is shorter, since a relay
// that stops waits for the answer.
inline constexpr Duration longest_wait = std::chrono::seconds{15},
                          longest_wait_of_relay = std::chrono::seconds{5};

}  // namespace gleaner::service
