#include "server/http/proxy_header.h"

#include "tests/catch.h"

using namespace gleaner;
using namespace gleaner::http;

namespace {

std::string binary(unsigned char command, unsigned char family, const std::string& addresses) {
  std::string header("\r\n\r\n\0\r\nQUIT\n", 12);
  header += static_cast<char>(command);
  header += static_cast<char>(family);
  header += static_cast<char>(addresses.size() / 256);
  header += static_cast<char>(addresses.size() % 256);
  return header + addresses;
}

const std::string from_ipv4("\xcb\x00\x71\x07\xc0\x00\x02\x01\xc3\x50\x20\xfb", 12);

// It and each beginning of it: whole only at its end, whatever follows.
ProxyHeader whole(const std::string& header) {
  for (std::size_t bytes = 0; bytes < header.size(); ++bytes) {
    const auto part = parse_proxy_header(std::string_view(header).substr(0, bytes));
    REQUIRE(part.ok());
    CHECK(!part->has_value());
  }
  const auto parsed = parse_proxy_header(header + "\x16\x03\x01");
  REQUIRE(parsed.ok());
  REQUIRE(parsed->has_value());
  CHECK((*parsed)->bytes == header.size());
  return **parsed;
}

void refused(const std::string& start) {
  const auto parsed = parse_proxy_header(start);
  REQUIRE(!parsed.ok());
  CHECK(parsed.error().kind == ErrorKind::invalid);
}

}  // namespace

TEST_CASE("version 1 says whose a connection is") {
  CHECK(whole("PROXY TCP4 203.0.113.7 192.0.2.1 50000 8443\r\n").peer == "203.0.113.7");
  CHECK(whole("PROXY TCP6 2001:db8::7 2001:db8::1 50000 8443\r\n").peer == "2001:db8::7");
  CHECK(whole("PROXY TCP6 ::ffff:203.0.113.7 ::1 50000 8443\r\n").peer == "203.0.113.7");
  CHECK(whole("PROXY UNKNOWN\r\n").peer.empty());
  CHECK(whole("PROXY UNKNOWN ffff::1 ffff::2 1 2\r\n").peer.empty());
}

TEST_CASE("version 2 says whose a connection is, with what else the proxy tells") {
  CHECK(whole(binary(0x21, 0x11, from_ipv4)).peer == "203.0.113.7");
  CHECK(whole(binary(0x21, 0x11, from_ipv4 + std::string(300, 'x'))).peer == "203.0.113.7");
  std::string from_ipv6("\x20\x01\x0d\xb8", 4);
  from_ipv6 += std::string(11, '\0') + "\x07" + std::string(20, '\0');
  CHECK(whole(binary(0x21, 0x21, from_ipv6)).peer == "2001:db8::7");
  CHECK(whole(binary(0x20, 0x00, "")).peer.empty());  // LOCAL: it looks whether we are well
  CHECK(whole(binary(0x21, 0x00, "")).peer.empty());
}

TEST_CASE("what is no header, or a wrong one, is refused as soon as that shows") {
  refused("\x16\x03\x01");  // TLS at once
  refused("GET / HTTP/1.1\r\n");
  refused("PROXY TCP4 203.0.113.7 192.0.2.1 50000\r\n");
  refused("PROXY TCP4 2001:db8::7 192.0.2.1 50000 8443\r\n");
  refused("PROXY TCP4 kitchen 192.0.2.1 50000 8443\r\n");
  refused("PROXY UDP4 203.0.113.7 192.0.2.1 50000 8443\r\n");
  refused("PROXY \r\n");
  refused("PROXY UNKNOWN " + std::string(200, 'x'));
  refused(binary(0x11, 0x11, from_ipv4));
  refused(binary(0x21, 0x12, from_ipv4));  // UDP
  refused(binary(0x21, 0x11, from_ipv4.substr(0, 8)));
  refused(binary(0x21, 0x11, std::string(proxy_header_bytes_max, 'x')));
}
