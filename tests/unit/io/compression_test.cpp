#include "shared/io/compression.h"

#include "shared/base/random.h"
#include "tests/catch.h"

using namespace gleaner;
using namespace gleaner::io;

TEST_CASE("compression is undone exactly (seeded)") {
  const std::uint64_t seed = GENERATE(1, 2, 3);
  INFO("seed " << seed);
  Random random(seed);
  for (const std::size_t size : {0U, 1U, 100U, 65'536U, 200'001U}) {
    Bytes bytes(size, 'x');
    for (auto& c : bytes)
      if (random.chance(0.5)) c = static_cast<char>(random.below(256));
    CHECK(decompress(compress(bytes), static_cast<std::int64_t>(size)).value() == bytes);
  }
}

TEST_CASE("what comes out is bounded: a bomb is refused") {
  const Bytes bomb = compress(Bytes(std::size_t{64} << 20, '\0'));
  REQUIRE(bomb.size() < 100'000);
  CHECK(decompress(bomb, 1 << 20).error().kind == ErrorKind::too_large);
  const Bytes small = compress("12345");
  CHECK(decompress(small, 5).ok());
  CHECK(decompress(small, 4).error().kind == ErrorKind::too_large);
}

TEST_CASE("damaged streams are refused, every byte and every length of them") {
  const Bytes text = "The quick brown fox jumps over the lazy dog; the quick brown fox again.";
  const Bytes packed = compress(text);
  for (std::size_t length = 0; length < packed.size(); ++length) {
    INFO("length " << length);
    CHECK(decompress(packed.substr(0, length), 1000).error().kind == ErrorKind::invalid);
  }
  for (std::size_t i = 0; i < packed.size(); ++i) {
    INFO("byte " << i);
    Bytes damaged = packed;
    damaged[i] = static_cast<char>(damaged[i] ^ 0xff);
    const auto unpacked = decompress(damaged, 1000);
    CHECK(!unpacked.ok());
  }
  CHECK(decompress(packed + "x", 1000).error().kind == ErrorKind::invalid);
}
