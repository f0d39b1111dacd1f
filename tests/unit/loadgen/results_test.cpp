// Made-up results: framed, digested and packed as clients do, and the same when they are made again.
#include "tools/loadgen/results.h"

#include "shared/base/limits.h"
#include "shared/crypto/keys.h"
#include "shared/io/compression.h"
#include "shared/protocol/segment.h"
#include "tests/catch.h"

using namespace gleaner;
using namespace gleaner::loadgen;

TEST_CASE("stored blocks are what zlib reads") {
  for (const std::size_t size : {0, 1, 68, 65'534, 65'535, 65'536, 200'000}) {
    CAPTURE(size);
    Bytes bytes(size, '\0');
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 7 % 251);
    CHECK(io::decompress(stored_zlib(bytes), limits::segment_bytes_max).value() == bytes);
  }
}

TEST_CASE("a result is what its digest and length say, and frames one item for each of its range") {
  const ResultShape shape{100, false, 5};
  const auto result = make_result(shape, UnitId{3}, Range{10, 14});
  const Bytes raw = io::decompress(*result.data, result.bytes).value();
  CHECK(crypto::sha256_hex(raw) == result.digest);
  CHECK(static_cast<std::int64_t>(raw.size()) == result.bytes);
  CHECK(result.last);
  const auto items = protocol::split_segment(raw, 4, 100);
  REQUIRE(items.ok());
  CHECK(items->at(0) != items->at(1));
}

TEST_CASE("a result is the same when it is made again, and differs from all others") {
  const ResultShape shape{64, false, 5};
  const auto once = make_result(shape, UnitId{3}, Range{0, 1});
  CHECK(make_result(shape, UnitId{3}, Range{0, 1}).digest == once.digest);
  CHECK(make_result(shape, UnitId{4}, Range{0, 1}).digest != once.digest);
  CHECK(make_result({64, false, 6}, UnitId{3}, Range{0, 1}).digest != once.digest);
}

TEST_CASE("the same bytes are the same in all units") {
  const ResultShape shape{64, true, 5};
  CHECK(make_result(shape, UnitId{3}, Range{0, 2}).digest ==
        make_result(shape, UnitId{9}, Range{7, 9}).digest);
}

TEST_CASE("a spoiled result is not what its digest says") {
  auto result = make_result({}, UnitId{3}, Range{0, 1});
  const auto before = result.digest;
  spoil(result);
  CHECK(result.digest != before);
  CHECK(result.digest.size() == before.size());
}

TEST_CASE("what fits is what a server takes with a request") {
  const ResultShape shape{64, false, 5};
  CHECK(fits_inline(shape, Range{0, 1}));
  std::int64_t items = 1;
  while (fits_inline(shape, Range{0, items + 1})) ++items;
  const auto largest = make_result(shape, UnitId{1}, Range{0, items});
  CHECK(static_cast<std::int64_t>(largest.data->size()) <= limits::inline_segment_bytes_max);
  CHECK(items > 900);
}
