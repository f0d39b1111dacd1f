// Networks as people write them, and which of many an address is in. IPv4 and IPv6 are told apart by nothing
// but their bits: an IPv4 address is the IPv6 address ::ffff:a.b.c.d (RFC 4291, 2.5.5.2), however it comes.
// Pure.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "shared/base/result.h"

namespace gleaner::policy {

using Address = std::array<std::uint8_t, 16>;

// "192.0.2.7", "2001:db8::1", "::ffff:192.0.2.7", "fe80::1%eth0".
[[nodiscard]] std::optional<Address> parse_address(const std::string& text);

struct Prefix {
  Address address{};  // bits after the first `bits` are 0
  int bits = 128;     // of an IPv4 network: 96 more than people write

  [[nodiscard]] bool contains(const Address& other) const;
  // As it is parsed: "192.0.2.7", "192.0.2.0/24", "2001:db8::/32".
  [[nodiscard]] std::string text() const;
  friend bool operator==(const Prefix&, const Prefix&) = default;
};

// An address, which stands for itself (IPv4) or for its /64 (IPv6, where that is what one subscriber has; RFC
// 6177), or a network. invalid: what is expected; a network may be no wider than /8 (IPv4) or /16 (IPv6).
[[nodiscard]] Result<Prefix> parse_prefix(const std::string& text);

// Many prefixes, each with something. Finding costs a look for each length that there is.
template <typename Value>
class PrefixMap {
 public:
  void put(const Prefix& prefix, Value value) { lengths_[prefix.bits][prefix.address] = std::move(value); }
  // Of the widest that has the address and that `wanted` says yes to; null: none.
  template <typename Wanted>
  [[nodiscard]] const Value* find(const Address& address, Wanted wanted) const;

 private:
  std::map<int, std::map<Address, Value>> lengths_;
};

// The first bits alone.
[[nodiscard]] Address masked(const Address& address, int bits);

template <typename Value>
template <typename Wanted>
const Value* PrefixMap<Value>::find(const Address& address, Wanted wanted) const {
  for (const auto& [bits, prefixes] : lengths_) {
    const auto found = prefixes.find(masked(address, bits));
    if (found != prefixes.end() && wanted(found->second)) return &found->second;
  }
  return nullptr;
}

}  // namespace gleaner::policy
