#include "shared/base/encoding.h"

#include <algorithm>

#include "shared/base/clock.h"
#include "shared/base/random.h"
#include "tests/catch.h"

using namespace gleaner;

TEST_CASE("base64url matches RFC 4648 vectors") {
  CHECK(to_base64url("") == "");
  CHECK(to_base64url("f") == "Zg");
  CHECK(to_base64url("fo") == "Zm8");
  CHECK(to_base64url("foobar") == "Zm9vYmFy");
  CHECK(to_base64url("\xfb\xff") == "-_8");
}

TEST_CASE("encodings are inverse and refuse what they did not write") {
  Random random(7);
  for (int round = 0; round < 500; ++round) {
    Bytes bytes;
    for (std::uint64_t n = random.below(40); n > 0; --n) bytes += static_cast<char>(random.below(256));
    CHECK(from_hex(to_hex(bytes)) == bytes);
    CHECK(from_base64url(to_base64url(bytes)) == bytes);
  }
  CHECK_FALSE(from_hex("abc"));
  CHECK_FALSE(from_hex("AB"));
  CHECK_FALSE(from_base64url("Zg=="));
  CHECK_FALSE(from_base64url("Zh"));  // left-over bits set
  CHECK_FALSE(from_base64url("A"));
  CHECK_FALSE(from_base64url("Zm 8"));
}

TEST_CASE("base64url takes exactly what it writes, whatever stands at the end") {
  int taken = 0;
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      for (const std::string before : {"", "A", "Zm", "Zm8", "Zm9v"}) {
        const std::string text = before + static_cast<char>(first) + static_cast<char>(second);
        const auto bytes = from_base64url(text);
        if (bytes && to_base64url(*bytes) != text) FAIL(text);
        taken += bytes ? 1 : 0;
      }
    }
  }
  // Two digits at the end are one byte and four bits that must be zero; three, two bytes and two such bits;
  // four are all used, and one is none.
  CHECK(taken == 2 * 64 * 4 + 64 * 16 + 64 * 64);
}

TEST_CASE("constant-time comparison compares") {
  CHECK(equal_constant_time("abc", "abc"));
  CHECK_FALSE(equal_constant_time("abc", "abd"));
  CHECK_FALSE(equal_constant_time("abc", "abcd"));
}

TEST_CASE("a comparison takes as long wherever the difference is") {
  const Bytes secret(4 << 20, 's');
  Bytes early = secret, late = secret;
  early.front() = late.back() = 'x';
  const auto seconds = [&](const Bytes& guess) {
    const SteadyTime begun = system_clock().steady();
    CHECK_FALSE(equal_constant_time(guess, secret));
    return to_seconds(system_clock().steady() - begun);
  };
  // The least of several, in turns: what else this computer does only adds.
  double first = 1e9, last = 1e9;
  for (int round = 0; round < 15; ++round) {
    first = std::min(first, seconds(early));
    last = std::min(last, seconds(late));
  }
  INFO(first << " s and " << last << " s");
  CHECK(first > last / 2);
  CHECK(last > first / 2);
}
