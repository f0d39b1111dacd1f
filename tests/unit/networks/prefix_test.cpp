// Addresses and networks: IPv4, IPv6, IPv4 in IPv6, and which of many prefixes has an address.
#include "server/policy/networks/prefix.h"

#include "tests/catch.h"

using namespace gleaner;
using namespace gleaner::policy;

namespace {

std::string canonical(const std::string& text) {
  const auto prefix = parse_prefix(text);
  return prefix.ok() ? prefix->text() : "";
}

bool has(const std::string& network, const std::string& address) {
  return parse_prefix(network)->contains(parse_address(address).value());
}

}  // namespace

TEST_CASE("networks are written one way") {
  CHECK(canonical("192.0.2.7") == "192.0.2.7");
  CHECK(canonical("192.0.2.7/32") == "192.0.2.7");
  CHECK(canonical("192.0.2.7/24") == "192.0.2.0/24");
  CHECK(canonical("10.200.3.4/8") == "10.0.0.0/8");
  CHECK(canonical("192.0.2.255/25") == "192.0.2.128/25");
  CHECK(canonical("2001:db8::1") == "2001:db8::/64");  // whoever has one address has all of these
  CHECK(canonical("2001:DB8:0:0::1/128") == "2001:db8::1/128");
  CHECK(canonical("2001:db8:ffff::/33") == "2001:db8:8000::/33");
  CHECK(canonical("::ffff:192.0.2.7") == "192.0.2.7");
  CHECK(canonical("::ffff:192.0.2.7/120") == "192.0.2.0/24");
  CHECK(canonical("::1") == "::1/128");  // its /64 has all of IPv4 in it
  CHECK(canonical("::1/128") == "::1/128");
  for (const char* wrong : {"",
                            "/",
                            "/24",
                            "192.0.2",
                            "192.0.2.7/",
                            "192.0.2.7/33",
                            "192.0.2.7/-1",
                            "192.0.2.7/ 8",
                            "192.0.2.7/8x",
                            "256.0.0.1",
                            "host.example",
                            "2001:db8::/129",
                            "0.0.0.0/0",
                            "10.0.0.0/7",
                            "::/0",
                            "2000::/15",
                            "::/80",
                            "::ffff:0:0/96",
                            "192.0.2.7/24/8",
                            "unknown"})
    CHECK(canonical(wrong).empty());
}

TEST_CASE("an address is in a network, however it is written") {
  CHECK(has("192.0.2.0/24", "192.0.2.255"));
  CHECK(has("192.0.2.0/24", "::ffff:192.0.2.1"));
  CHECK(!has("192.0.2.0/24", "192.0.3.0"));
  CHECK(!has("192.0.2.7", "192.0.2.6"));
  CHECK(!has("192.0.2.0/24", "2001:db8::1"));
  CHECK(has("2001:db8::1", "2001:db8:0:0:ffff::9"));
  CHECK(!has("2001:db8::1", "2001:db8:0:1::1"));
  CHECK(has("2001:db8:8000::/33", "2001:db8:ffff::"));
  CHECK(!has("2001:db8:8000::/33", "2001:db8:7fff::"));
  CHECK(has("fe80::/16", "fe80::1%eth0"));
  CHECK(!parse_address("unknown"));
}

TEST_CASE("the widest wanted of many prefixes is found") {
  PrefixMap<std::string> map;
  for (const char* text : {"10.0.0.0/8", "10.1.0.0/16", "10.1.2.3", "2001:db8::/32", "2001:db8::/64"})
    map.put(*parse_prefix(text), text);
  const auto any = [](const std::string&) { return true; };
  const auto found = [&](const std::string& address, auto wanted) {
    const std::string* const value = map.find(parse_address(address).value(), wanted);
    return value == nullptr ? "none" : *value;
  };
  CHECK(found("10.1.2.3", any) == "10.0.0.0/8");
  CHECK(found("10.1.2.3", [](const std::string& text) { return text != "10.0.0.0/8"; }) == "10.1.0.0/16");
  CHECK(found("10.1.2.3", [](const std::string& text) { return text == "10.1.2.3"; }) == "10.1.2.3");
  CHECK(found("11.1.2.3", any) == "none");
  CHECK(found("2001:db8::5", any) == "2001:db8::/32");
  CHECK(found("::ffff:10.9.9.9", any) == "10.0.0.0/8");
}
