#include "shared/io/reach.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>

namespace gleaner::io {
namespace {

using Four = std::array<std::uint8_t, 4>;
using Sixteen = std::array<std::uint8_t, 16>;

Reach reach_of(const Four& bytes) {
  const auto [a, b, c, d] = bytes;
  if (a == 0 || a == 127 || (a == 169 && b == 254) || a >= 224) return Reach::computer;
  const bool own =
      a == 10 || (a == 172 && b >> 4 == 1) || (a == 192 && b == 168) || (a == 100 && b >> 6 == 1);
  return own ? Reach::network : Reach::world;
}

bool begins(const Sixteen& bytes, std::initializer_list<std::uint8_t> with) {
  return std::equal(with.begin(), with.end(), bytes.begin());
}

Reach reach_of(const Sixteen& bytes) {
  // IPv4 inside: mapped (RFC 4291), translated (RFC 6052).
  if (begins(bytes, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}) ||
      begins(bytes, {0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0}))
    return reach_of(Four{bytes[12], bytes[13], bytes[14], bytes[15]});
  if (begins(bytes, {0x20, 0x02})) return reach_of(Four{bytes[2], bytes[3], bytes[4], bytes[5]});  // RFC 3056
  if ((bytes[0] & 0xfe) == 0xfc) return Reach::network;
  return bytes[0] >> 5 == 1 ? Reach::world : Reach::computer;  // 2000::/3 is all that is given out
}

Sixteen mapped(const Four& four) {
  return {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, four[0], four[1], four[2], four[3]};
}

std::optional<Sixteen> bytes_of(const sockaddr& address) {
  if (address.sa_family == AF_INET) {
    sockaddr_in in{};
    std::memcpy(&in, &address, sizeof in);
    Four four{};
    std::memcpy(four.data(), &in.sin_addr, four.size());
    return mapped(four);
  }
  if (address.sa_family != AF_INET6) return std::nullopt;
  sockaddr_in6 in{};
  std::memcpy(&in, &address, sizeof in);
  Sixteen bytes{};
  std::memcpy(bytes.data(), &in.sin6_addr, bytes.size());
  return bytes;
}

int bits_set(const Sixteen& mask) {
  return std::accumulate(mask.begin(), mask.end(), 0,
                         [](int sum, std::uint8_t byte) { return sum + std::popcount(byte); });
}

bool same_prefix(const Sixteen& a, const Sixteen& b, int bits) {
  for (std::size_t i = 0; i < a.size() && bits > 0; ++i, bits -= 8) {
    const auto mask = static_cast<std::uint8_t>(bits >= 8 ? 0xff : 0xff << (8 - bits));
    if (((a[i] ^ b[i]) & mask) != 0) return false;
  }
  return true;
}

// A site's prefix has 48 to 56 bits (RFC 6177); its networks have 64 each.
constexpr int site_bits = 48;

Reach reach_of(const Sixteen& bytes, const std::vector<Interface>& own) {
  const Reach general = reach_of(bytes);
  if (general != Reach::world) return general;
  for (const Interface& one : own)
    if (one.address == bytes) return Reach::computer;
  const bool six = bytes[0] >> 5 == 1;
  for (const Interface& one : own)
    if (same_prefix(one.address, bytes, six ? std::min(site_bits, one.network_bits) : one.network_bits))
      return Reach::network;
  return Reach::world;
}

}  // namespace

std::vector<Interface> interfaces() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owned(list, &::freeifaddrs);
  std::vector<Interface> all;
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr) continue;
    const auto address = bytes_of(*one->ifa_addr);
    if (!address) continue;
    Interface here{*address, 128};
    if (one->ifa_netmask != nullptr) {
      const bool four = one->ifa_addr->sa_family == AF_INET;
      const auto mask = bytes_of(*one->ifa_netmask);
      // The mask of IPv4 is mapped, too: its 16 bits of ones stand for the 96 before the address.
      if (mask) here.network_bits = four ? bits_set(*mask) - 16 + 96 : bits_set(*mask);
    }
    all.push_back(here);
  }
  return all;
}

Reach reach_of(const sockaddr& address, const std::vector<Interface>& own) {
  const auto bytes = bytes_of(address);
  return bytes ? reach_of(*bytes, own) : Reach::computer;
}

Reach reach_of(const std::string& address, const std::vector<Interface>& own) {
  Four four{};
  if (::inet_pton(AF_INET, address.c_str(), four.data()) == 1) return reach_of(mapped(four), own);
  Sixteen sixteen{};
  if (::inet_pton(AF_INET6, address.c_str(), sixteen.data()) == 1) return reach_of(sixteen, own);
  return Reach::computer;
}

}  // namespace gleaner::io
