#include "tools/loadgen/results.h"

#include <algorithm>
#include <cstring>

#include "shared/base/limits.h"
#include "shared/base/random.h"
#include "shared/crypto/keys.h"
#include "shared/protocol/segment.h"

namespace gleaner::loadgen {
namespace {

constexpr std::uint64_t golden_ratio = 0x9e3779b97f4a7c15;  // spreads units over all seeds
constexpr std::size_t block_bytes_max = 0xffff;

void append_number(Bytes& to, std::uint32_t value, bool big_endian, int bytes) {
  for (int i = 0; i < bytes; ++i) to += static_cast<char>(value >> (8 * (big_endian ? bytes - 1 - i : i)));
}

std::uint32_t adler32(std::string_view bytes) {
  std::uint32_t a = 1;
  std::uint32_t b = 0;
  for (const char c : bytes) {
    a = (a + static_cast<unsigned char>(c)) % 65521;
    b = (b + a) % 65521;
  }
  return b << 16 | a;
}

}  // namespace

protocol::CommitRequest make_result(const ResultShape& shape, UnitId unit, Range range) {
  Random random(shape.same_bytes ? shape.seed
                                 : shape.seed + golden_ratio * static_cast<std::uint64_t>(unit.value));
  Bytes item(static_cast<std::size_t>(shape.item_bytes), '\0');
  Bytes segment;
  for (std::int64_t i = range.begin; i < range.end; ++i) {
    for (std::size_t at = 0; at < item.size() && (i == range.begin || !shape.same_bytes);
         at += sizeof(std::uint64_t)) {
      const std::uint64_t word = random.next();
      std::memcpy(item.data() + at, &word, std::min(sizeof word, item.size() - at));
    }
    protocol::append_item(segment, item);
  }
  protocol::CommitRequest result;
  result.unit = unit;
  result.range = range;
  result.digest = crypto::sha256_hex(segment);
  result.bytes = static_cast<std::int64_t>(segment.size());
  result.data = stored_zlib(segment);
  result.compute_seconds = 1;
  result.last = true;
  return result;
}

void spoil(protocol::CommitRequest& result) {
  result.digest = crypto::sha256_hex(result.digest);
}

bool fits_inline(const ResultShape& shape, Range range) {
  constexpr std::int64_t framing = 64;  // of the zlib stream
  return range.size() <= (limits::inline_segment_bytes_max - framing) / (shape.item_bytes + 4);
}

Bytes stored_zlib(std::string_view bytes) {
  Bytes stream = "\x78\x01";
  const std::uint32_t checksum = adler32(bytes);
  do {
    const std::string_view block = bytes.substr(0, block_bytes_max);
    bytes.remove_prefix(block.size());
    stream += bytes.empty() ? '\1' : '\0';  // the last one
    const auto length = static_cast<std::uint32_t>(block.size());
    append_number(stream, length, false, 2);
    append_number(stream, ~length, false, 2);
    stream.append(block);
  } while (!bytes.empty());
  append_number(stream, checksum, true, 4);
  return stream;
}

}  // namespace gleaner::loadgen
