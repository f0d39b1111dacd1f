#include "shared/io/reach.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cstring>

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

}  // namespace

Reach reach_of(const sockaddr& address) {
  if (address.sa_family == AF_INET) {
    sockaddr_in four{};
    std::memcpy(&four, &address, sizeof four);
    Four bytes{};
    std::memcpy(bytes.data(), &four.sin_addr, bytes.size());
    return reach_of(bytes);
  }
  if (address.sa_family != AF_INET6) return Reach::computer;
  sockaddr_in6 six{};
  std::memcpy(&six, &address, sizeof six);
  Sixteen bytes{};
  std::memcpy(bytes.data(), &six.sin6_addr, bytes.size());
  return reach_of(bytes);
}

Reach reach_of(const std::string& address) {
  Four four{};
  if (::inet_pton(AF_INET, address.c_str(), four.data()) == 1) return reach_of(four);
  Sixteen sixteen{};
  if (::inet_pton(AF_INET6, address.c_str(), sixteen.data()) == 1) return reach_of(sixteen);
  return Reach::computer;
}

}  // namespace gleaner::io
