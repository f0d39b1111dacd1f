// How long hosts wait at a relay for what its parent may give it.
#pragma once

#include "shared/base/clock.h"

namespace gleaner::service {

// At most, of a host: half of transport::control_timeout. A relay that is told to stop waits for its answer.
inline constexpr Duration longest_wait = std::chrono::seconds{15},
                          longest_wait_of_relay = std::chrono::seconds{5};

}  // namespace gleaner::service
