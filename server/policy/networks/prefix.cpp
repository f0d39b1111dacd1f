#include "server/policy/networks/prefix.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>

namespace gleaner::policy {
namespace {

constexpr int mapped_bits = 96;  // of ::ffff:0:0/96, where IPv4 is
constexpr int widest_4 = 8;
constexpr int widest_6 = 16;
constexpr int subscriber_6 = 64;
constexpr Address all_of_4 = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 0, 0};

bool is_mapped(const Address& address) {
  return std::all_of(address.begin(), address.begin() + 10, [](auto byte) { return byte == 0; }) &&
         address[10] == 0xff && address[11] == 0xff;
}

Error expected() {
  return {ErrorKind::invalid,
          "expected an address or a network, as 192.0.2.7, 192.0.2.0/24, 2001:db8::1 or 2001:db8::/32, no "
          "wider than /8 (IPv4) or /16 (IPv6)"};
}

}  // namespace

std::optional<Address> parse_address(const std::string& text) {
  Address address{};
  const std::string plain = text.substr(0, text.find('%'));
  if (::inet_pton(AF_INET6, plain.c_str(), address.data()) == 1) return address;
  if (::inet_pton(AF_INET, plain.c_str(), address.data() + 12) != 1) return std::nullopt;
  address[10] = address[11] = 0xff;
  return address;
}

Address masked(const Address& address, int bits) {
  Address result{};
  for (int i = 0; i < 16; ++i) {
    const int left = std::clamp(bits - 8 * i, 0, 8);
    const auto at = static_cast<std::size_t>(i);
    result[at] = static_cast<std::uint8_t>(address[at] & (0xff00 >> left));
  }
  return result;
}

bool Prefix::contains(const Address& other) const {
  return masked(other, bits) == address;
}

std::string Prefix::text() const {
  std::array<char, INET6_ADDRSTRLEN> words{};
  const bool four = bits >= mapped_bits && is_mapped(address);
  if (four)
    ::inet_ntop(AF_INET, address.data() + 12, words.data(), words.size());
  else
    ::inet_ntop(AF_INET6, address.data(), words.data(), words.size());
  if (four && bits == 128) return words.data();
  return std::string(words.data()) + "/" + std::to_string(four ? bits - mapped_bits : bits);
}

Result<Prefix> parse_prefix(const std::string& text) {
  const auto slash = text.find('/');
  const auto address = parse_address(text.substr(0, slash));
  if (!address) return expected();
  const bool mapped = is_mapped(*address);
  const bool dotted_only = text.find(':') == std::string::npos;  // its length is that of an IPv4 network
  Prefix prefix;
  const Prefix around{masked(*address, subscriber_6), subscriber_6};
  prefix.bits = mapped || around.contains(all_of_4) ? 128 : subscriber_6;
  if (slash != std::string::npos) {
    const char* const begin = text.data() + slash + 1;
    const char* const end = text.data() + text.size();
    const auto parsed = std::from_chars(begin, end, prefix.bits);
    if (begin == end || parsed.ec != std::errc{} || parsed.ptr != end || prefix.bits < 0) return expected();
    if (dotted_only) prefix.bits += mapped_bits;
  }
  const int widest = mapped ? mapped_bits + widest_4 : widest_6;
  if (prefix.bits < widest || prefix.bits > 128) return expected();
  prefix.address = masked(*address, prefix.bits);
  if (!mapped && prefix.contains(all_of_4)) return expected();
  return prefix;
}

}  // namespace gleaner::policy
