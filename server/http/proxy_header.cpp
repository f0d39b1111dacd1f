#include "server/http/proxy_header.h"

#include <algorithm>
#include <array>
#include <boost/asio/ip/address.hpp>
#include <vector>

namespace gleaner::http {
namespace {

namespace ip = boost::asio::ip;
using Parsed = Result<std::optional<ProxyHeader>>;

constexpr std::string_view text_start = "PROXY ";
constexpr std::size_t text_bytes_max = 107;  // with its line end, says the protocol
constexpr std::string_view binary_start("\r\n\r\n\0\r\nQUIT\n", 12);
constexpr std::size_t binary_head_bytes = 16;  // then the addresses, and what else the proxy tells

Error no_header(const char* why) {
  return {ErrorKind::invalid, std::string("no PROXY protocol header: ") + why};
}

bool begins_alike(std::string_view text, std::string_view start) {
  const std::size_t common = std::min(text.size(), start.size());
  return text.substr(0, common) == start.substr(0, common);
}

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  while (true) {
    const std::size_t space = std::min(line.find(' '), line.size());
    words.emplace_back(line.substr(0, space));
    if (space == line.size()) return words;
    line.remove_prefix(space + 1);
  }
}

// As Connection names its peers: an IPv4 address is written as one, however it comes.
std::string plain(const ip::address& address) {
  if (!address.is_v6() || !address.to_v6().is_v4_mapped()) return address.to_string();
  return ip::make_address_v4(ip::v4_mapped, address.to_v6()).to_string();
}

// "PROXY TCP4 192.0.2.7 192.0.2.1 50000 8443\r\n", or "PROXY UNKNOWN" with anything behind it.
Parsed parse_text(std::string_view start) {
  const std::size_t end = start.find("\r\n");
  if (end == std::string_view::npos && start.size() < text_bytes_max) return std::optional<ProxyHeader>();
  if (end == std::string_view::npos || end + 2 > text_bytes_max) return no_header("its line is too long");
  const auto words = words_of(start.substr(text_start.size(), end - text_start.size()));
  if (words[0] == "UNKNOWN") return std::optional(ProxyHeader{end + 2, ""});
  if ((words[0] != "TCP4" && words[0] != "TCP6") || words.size() != 5)
    return no_header("expected TCP4 or TCP6, two addresses and two ports");
  boost::system::error_code ec;
  const auto address = ip::make_address(words[1], ec);
  if (ec || address.is_v4() != (words[0] == "TCP4")) return no_header("its source is no such address");
  return std::optional(ProxyHeader{end + 2, plain(address)});
}

template <typename Address>
std::string address_at(std::string_view bytes) {
  typename Address::bytes_type raw{};
  std::copy_n(bytes.begin(), raw.size(), raw.begin());
  return plain(Address(raw));
}

Parsed parse_binary(std::string_view start) {
  if (start.size() < binary_head_bytes) return std::optional<ProxyHeader>();
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(start[at]); };
  const std::size_t bytes = binary_head_bytes + 256U * byte(14) + byte(15);
  if (bytes > proxy_header_bytes_max) return no_header("it is too long");
  if (byte(12) != 0x20 && byte(12) != 0x21) return no_header("expected version 2, LOCAL or PROXY");
  if (start.size() < bytes) return std::optional<ProxyHeader>();
  const std::string_view addresses = start.substr(binary_head_bytes, bytes - binary_head_bytes);
  constexpr unsigned char tcp4 = 0x11, tcp6 = 0x21;
  constexpr std::size_t tcp4_bytes = 12, tcp6_bytes = 36;
  if (byte(12) == 0x20) return std::optional(ProxyHeader{bytes, ""});
  if (byte(13) == tcp4 && addresses.size() >= tcp4_bytes)
    return std::optional(ProxyHeader{bytes, address_at<ip::address_v4>(addresses)});
  if (byte(13) == tcp6 && addresses.size() >= tcp6_bytes)
    return std::optional(ProxyHeader{bytes, address_at<ip::address_v6>(addresses)});
  if (byte(13) == 0) return std::optional(ProxyHeader{bytes, ""});  // it does not know
  return no_header("expected TCP over IPv4 or IPv6");
}

}  // namespace

Result<std::optional<ProxyHeader>> parse_proxy_header(std::string_view start) {
  if (start.empty()) return std::optional<ProxyHeader>();
  if (begins_alike(start, binary_start)) return parse_binary(start);
  if (!begins_alike(start, text_start)) return no_header("the connection begins otherwise");
  if (start.size() < text_start.size()) return std::optional<ProxyHeader>();
  return parse_text(start);
}

}  // namespace gleaner::http
