// How near an address is (http_client.h). Private to this module. Pure; thread-safe.
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "shared/io/http_client.h"

namespace gleaner::io {

// An address of this computer, with the length of its network's prefix.
struct Interface {
  std::array<std::uint8_t, 16> address{};  // IPv4: mapped (RFC 4291)
  int network_bits = 128;
};

// The addresses that this computer has at the moment.
[[nodiscard]] std::vector<Interface> interfaces();

// Addresses that are given out to the world may still be this computer's or its owner's: `own` says which
// are. Of another family than IP: Reach::computer.
[[nodiscard]] Reach reach_of(const sockaddr& address, const std::vector<Interface>& own);
// "192.0.2.7", "2001:db8::1"; anything else: Reach::computer.
[[nodiscard]] Reach reach_of(const std::string& address, const std::vector<Interface>& own);

}  // namespace gleaner::io
