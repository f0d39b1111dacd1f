// What an item of the first stage says of each of its queries: the best records of its chunk, and how often
// each score occurred. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "apps/dsearch/engine.h"
#include "apps/kit/packing.h"
#include "shared/base/encoding.h"
#include "shared/base/result.h"

namespace gleaner::dsearch {

struct Hit {
  std::int32_t score = 0;
  std::uint64_t record = 0;      // number in the database, from 0
  std::uint32_t query_end = 0;   // of a local alignment: the last aligned residues
  std::uint32_t record_end = 0;  // likewise

  // The order of all lists: the best first, then by record.
  friend bool operator<(const Hit& a, const Hit& b) {
    return a.score != b.score ? a.score > b.score : a.record < b.record;
  }
  friend bool operator==(const Hit&, const Hit&) = default;
};

// Records by class of length (its bits; 0: empty) and score. Local scores count as they are up to
// histogram_max, others by sixteen.
using Histogram = std::map<std::pair<std::uint8_t, std::int32_t>, std::uint32_t>;
inline constexpr std::int32_t histogram_max = 1023;
inline constexpr std::int32_t histogram_step = 16;
[[nodiscard]] std::uint8_t length_class(std::size_t length);
[[nodiscard]] std::int32_t histogram_score(Mode mode, std::int32_t score);

struct QueryHits {
  std::vector<Hit> hits;  // in order
  Histogram histogram;
  friend bool operator==(const QueryHits&, const QueryHits&) = default;
};

// Whether a record of that score may be a hit.
struct Admission {
  Mode mode = Mode::local;
  std::int32_t score_min = 0;  // of local alignments at least 1
  std::int64_t top = 50;
};

// The best `top` of them, in order.
void keep_best(std::vector<Hit>& hits, std::int64_t top);

// As all files have them: how many (4), then each score (4), record (8), ends (4, 4).
void pack(Bytes& bytes, const std::vector<Hit>& hits);
// Likewise: each class (1), score (4), records (4).
void pack(Bytes& bytes, const Histogram& histogram);
// What was packed; an unpacker that is cut short has failed.
[[nodiscard]] std::vector<Hit> unpack_hits(kit::Unpacker& unpacker);
[[nodiscard]] Histogram unpack_histogram(kit::Unpacker& unpacker);

// Number of the item (8), then for each query its hits and its histogram.
[[nodiscard]] Bytes encode(std::int64_t item, const std::vector<QueryHits>& queries);
// Checks the form, and that hits and histogram agree with each other and with `records`, the first record of
// the chunk and how many it has.
struct ChunkRecords {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};
[[nodiscard]] Result<std::vector<QueryHits>> decode_hits(std::int64_t item, std::size_t queries,
                                                         ChunkRecords records, const Admission& admission,
                                                         std::string_view bytes);

}  // namespace gleaner::dsearch
