// How near an address is (http_client.h). Private to this module. Pure; thread-safe.
#pragma once

#include <sys/socket.h>

#include <string>

#include "shared/io/http_client.h"

namespace gleaner::io {

// Of another family than IP: Reach::computer.
[[nodiscard]] Reach reach_of(const sockaddr& address);
// "192.0.2.7", "2001:db8::1"; anything else: Reach::computer.
[[nodiscard]] Reach reach_of(const std::string& address);

}  // namespace gleaner::io
