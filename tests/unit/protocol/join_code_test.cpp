#include "shared/protocol/join_code.h"

#include <zlib.h>

#include "shared/base/random.h"
#include "tests/catch.h"

using namespace gleaner;
using namespace gleaner::protocol;

namespace {

Bytes random_bytes(Random& random, std::size_t count) {
  Bytes bytes;
  for (; count > 0; --count) bytes += static_cast<char>(random.below(256));
  return bytes;
}

JoinCode sample() {
  return {"grid.example.org", 8443, Bytes(32, '\x11'), Bytes(16, '\x22')};
}

void check_same(const JoinCode& a, const JoinCode& b) {
  CHECK(a.host == b.host);
  CHECK(a.port == b.port);
  CHECK(a.root_fingerprint == b.root_fingerprint);
  CHECK(a.enrolment_secret == b.enrolment_secret);
  CHECK(a.certificate == b.certificate);
  REQUIRE(a.fallback.has_value() == b.fallback.has_value());
  if (!a.fallback) return;
  CHECK(a.fallback->host == b.fallback->host);
  CHECK(a.fallback->port == b.fallback->port);
  CHECK(a.fallback->enrolment_secret == b.fallback->enrolment_secret);
  CHECK(a.fallback->certificate == b.fallback->certificate);
}

JoinCode with_fallback() {
  JoinCode code = sample();
  code.fallback = Fallback{"project.example.org", 443, Bytes(16, '\x33')};
  return code;
}

// As sample() spells it, with other bytes behind the address, and the checksum that they should have.
std::string spelt(const Bytes& rest) {
  const std::string address = "grid.example.org:8443";
  uLong crc = crc32(0, Z_NULL, 0);
  for (const std::string& part : {address, std::string(rest)})
    crc = crc32(crc, reinterpret_cast<const Bytef*>(part.data()), static_cast<uInt>(part.size()));
  Bytes bytes = rest;
  for (int shift = 24; shift >= 0; shift -= 8)
    bytes += static_cast<char>(static_cast<unsigned char>(crc >> shift));
  return "gleaner://" + address + "/" + to_base64url(bytes);
}

}  // namespace

TEST_CASE("join codes survive being written and read") {
  Random random(5);
  for (const std::string host : {"localhost", "127.0.0.1", "::1", "2001:db8::17", "a-b.example.org", "x"})
    for (int round = 0; round < 50; ++round) {
      const JoinCode code{host, static_cast<int>(random.between(1, 65'535)), random_bytes(random, 32),
                          random_bytes(random, 16)};
      const auto back = parse_join_code(" \n" + to_text(code) + "\r\n");
      if (!back.ok()) FAIL(back.error().message);
      check_same(*back, code);
      JoinCode shown = code;
      shown.certificate = Certificate::either;
      check_same(parse_join_code(to_text(shown)).value(), shown);
      for (const std::string other : {"p", "::2", "10.0.0.1", "project.example.org"}) {
        JoinCode relay = code;
        relay.fallback =
            Fallback{other, static_cast<int>(random.between(1, 65'535)), random_bytes(random, 16)};
        const auto again = parse_join_code(to_text(relay));
        if (!again.ok()) FAIL(again.error().message);
        check_same(*again, relay);
        relay.fallback->certificate = Certificate::either;
        check_same(parse_join_code(to_text(relay)).value(), relay);
      }
    }
}

TEST_CASE("join codes look like this for ever") {
  CHECK(to_text(sample()) ==
        "gleaner://grid.example.org:8443/"
        "ARERERERERERERERERERERERERERERERERERERERERERIiIiIiIiIiIiIiIiIiIiIiB6iak");
  CHECK(sample().base_url() == "https://grid.example.org:8443");
  CHECK(JoinCode{"::1", 443, {}, {}}.base_url() == "https://[::1]:443");
}

TEST_CASE("the address may be typed in capitals") {
  std::string text = to_text(sample());
  for (char& c : text) {
    if (c == '/') continue;
    if (&c > &text[30]) break;
    c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  const auto back = parse_join_code(text);
  if (!back.ok()) FAIL(back.error().message);
  check_same(*back, sample());
}

TEST_CASE("a code with another place of its project looks like this for ever") {
  CHECK(to_text(with_fallback()) ==
        "gleaner://grid.example.org:8443/"
        "AhERERERERERERERERERERERERERERERERERERERERERIiIiIiIiIiIiIiIiIiIiIjMzMzMzMzMzMzMzMzMzMzMBu3Byb2pl"
        "Y3QuZXhhbXBsZS5vcmcLCSrj");
  const JoinCode code = with_fallback().fallback_code();
  CHECK(code.base_url() == "https://project.example.org:443");
  CHECK(code.root_fingerprint == sample().root_fingerprint);
  CHECK(code.enrolment_secret == Bytes(16, '\x33'));
  CHECK_FALSE(code.fallback);
  CHECK(code.certificate == Certificate::project);
}

TEST_CASE("a code of a server with a public certificate looks like this for ever") {
  JoinCode code = sample();
  code.certificate = Certificate::either;
  CHECK(to_text(code) == spelt(Bytes(1, '\x03') + Bytes(32, '\x11') + Bytes(16, '\x22')));
  code = with_fallback();
  code.fallback->certificate = Certificate::either;
  CHECK(to_text(code) == spelt(Bytes(1, '\x04') + Bytes(32, '\x11') + Bytes(16, '\x22') + Bytes(16, '\x33') +
                               Bytes("\x01\xbb", 2) + "project.example.org"));
  CHECK(code.fallback_code().certificate == Certificate::either);
}

TEST_CASE("the other place of a code is read within bounds, in one spelling") {
  const Bytes rest = Bytes(1, '\x02') + Bytes(32, '\x11') + Bytes(16, '\x22') + Bytes(16, '\x33');
  const Bytes port("\x01\xbb", 2);
  CHECK(parse_join_code(spelt(rest + port + "project.example.org")).ok());
  const std::string label(63, 'a');
  const std::string longest = label + "." + label + "." + label + "." + std::string(61, 'a');
  REQUIRE(longest.size() == 253);
  CHECK(parse_join_code(spelt(rest + port + longest)).ok());
  for (const Bytes& bad :
       {Bytes(), port, port + "A.example", port + "a_b", port + "2001:DB8::1", port + "[::1]", port + "-",
        port + "a..b", Bytes(2, '\0') + "a", port + Bytes("a\0b", 3)}) {
    INFO(to_hex(bad));
    const auto read = parse_join_code(spelt(rest + bad));
    REQUIRE_FALSE(read.ok());
    CHECK_THAT(read.error().message, Catch::Contains("cannot be read"));
  }
  CHECK_THAT(parse_join_code(spelt(rest + port + longest + "a")).error().message,
             Catch::Contains("too long"));
  CHECK_THAT(parse_join_code(spelt(Bytes(1, '\x01') + rest.substr(1) + port + "a")).error().message,
             Catch::Contains("too long"));
  CHECK_THAT(parse_join_code(spelt(Bytes(1, '\x05') + rest.substr(1) + port + "a")).error().message,
             Catch::Contains("newer version"));
}

TEST_CASE("every single mistyped character is noticed") {
  const std::string good = to_text(GENERATE(true, false) ? sample() : with_fallback());
  const std::string letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.:/[] #";
  for (std::size_t at = 0; at < good.size(); ++at)
    for (const char letter : letters) {
      if (std::tolower(static_cast<unsigned char>(letter)) ==
          std::tolower(static_cast<unsigned char>(good[at])))
        if (letter == good[at] || at < good.find_last_of('/')) continue;
      std::string bad = good;
      bad[at] = letter;
      INFO(bad);
      const auto result = parse_join_code(bad);
      REQUIRE_FALSE(result.ok());
      CHECK(result.error().kind == ErrorKind::invalid);
    }
}

TEST_CASE("swapped, lost and doubled characters are noticed") {
  const std::string good =
      to_text({"grid.example.org", 8443, "0123456789abcdefghijklmnopqrstuv", "0123456789abcdef"});
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string lost = good;
    lost.erase(at, 1);
    CHECK_FALSE(parse_join_code(lost).ok());
    std::string doubled = good;
    doubled.insert(at, 1, good[at]);
    CHECK_FALSE(parse_join_code(doubled).ok());
    if (at + 1 == good.size() || good[at] == good[at + 1]) continue;
    std::string swapped = good;
    std::swap(swapped[at], swapped[at + 1]);
    CHECK_FALSE(parse_join_code(swapped).ok());
  }
}

TEST_CASE("what is wrong is said as a person would have typed it") {
  const auto error = [](const std::string& text) { return parse_join_code(text).error().message; };
  const std::string good = to_text(sample());
  const std::string code = good.substr(good.find_last_of('/') + 1);
  using Catch::Contains;
  CHECK_THAT(error(""), Contains("empty"));
  CHECK_THAT(error("https://grid.example.org/"), Contains("does not begin with gleaner://"));
  CHECK_THAT(error("gleaner://grid.example.org:8443"), Contains("a code behind it"));
  CHECK_THAT(error("gleaner:///" + code), Contains("a code behind it"));
  CHECK_THAT(error("gleaner://grid.example.org/" + code), Contains("no port"));
  CHECK_THAT(error("gleaner://[::1]/" + code), Contains("no port"));
  CHECK_THAT(error("gleaner://grid.example.org:0/" + code), Contains("not a port"));
  CHECK_THAT(error("gleaner://grid.example.org:65536/" + code), Contains("not a port"));
  CHECK_THAT(error("gleaner://grid.example.org:99999999999999/" + code), Contains("not a port"));
  CHECK_THAT(error("gleaner://grid_example:1/" + code), Contains("not a host name"));
  CHECK_THAT(error("gleaner://[::x]:1/" + code), Contains("not an IPv6 address"));
  CHECK_THAT(error("gleaner://grid.example.org:8443/" + code.substr(1)),
             Contains("too short (70 characters instead of 71)"));
  CHECK_THAT(error(good + "x"), Contains("too long"));
  CHECK_THAT(error("gleaner://grid.example.org:8443/" + code.substr(1) + "!"),
             Contains("\"!\" cannot be part"));
  CHECK_THAT(error("gleaner://grid.example.org:8444/" + code), Contains("checksum does not match"));
  CHECK_THAT(error("gleaner://grid.example.org:8443/B" + code.substr(1)), Contains("newer version"));
}
