#include "server/link/address.h"

#include <algorithm>
#include <charconv>

namespace gleaner::link {
namespace {

constexpr std::size_t path_bytes_max = 107;  // what the kernel takes
constexpr std::size_t addresses_max = 16;

}  // namespace

std::string Address::text() const {
  if (local()) return "unix:" + path;
  const bool brackets = host.find(':') != std::string::npos;
  return (brackets ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

Result<Address> parse_address(std::string_view text) {
  const Error wrong{ErrorKind::invalid, "\"" + std::string(text.substr(0, 200)) +
                                            "\": expected unix:/PATH (107 bytes at most) or HOST:PORT"};
  Address address;
  constexpr std::string_view local = "unix:";
  if (text.starts_with(local)) {
    address.path = text.substr(local.size());
    if (!address.path.starts_with('/') || address.path.size() > path_bytes_max) return wrong;
    return address;
  }
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0 || text.size() > 300) return wrong;
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  if (host.starts_with('[') && host.ends_with(']') && host.size() > 2)
    host = host.substr(1, host.size() - 2);
  else if (host.find_first_of("[]:") != std::string_view::npos)
    return wrong;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
  if (error != std::errc{} || end != port.data() + port.size() || address.port < 1 || address.port > 65535)
    return wrong;
  address.host = host;
  return address;
}

Result<std::vector<Address>> parse_addresses(std::string_view text) {
  std::vector<Address> all;
  while (!text.empty()) {
    const auto comma = std::min(text.find(','), text.size());
    std::string_view part = text.substr(0, comma);
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    TRY_ASSIGN(Address address, parse_address(part));
    all.push_back(std::move(address));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  if (all.size() > addresses_max) return Error{ErrorKind::invalid, "more than 16 addresses of servers"};
  return all;
}

}  // namespace gleaner::link
