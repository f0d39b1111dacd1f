// Hands an address with a secret in it to the desktop's browser. Other users can read the browser's
// arguments, so it is given a loopback address instead, which leads on to the real one: once, and only the
// user that runs this program. Blocks the caller's thread.
#pragma once

#include <functional>
#include <string>

#include "shared/base/clock.h"
#include "shared/base/result.h"

namespace gleaner::admin {

// Until the browser has the address. unavailable: nothing opens addresses here, or no browser came within
// `patience` or before the person interrupted: the address was given to nobody.
[[nodiscard]] Status hand_to_browser(const std::string& address, Duration patience,
                                     const std::function<bool()>& interrupted);

}  // namespace gleaner::admin
