#include "shared/base/encoding.h"

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

TEST_CASE("constant-time comparison compares") {
  CHECK(equal_constant_time("abc", "abc"));
  CHECK_FALSE(equal_constant_time("abc", "abd"));
  CHECK_FALSE(equal_constant_time("abc", "abcd"));
}
