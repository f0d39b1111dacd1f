// The made-up results that simulated hosts deliver. What a host computed is a function of the seed, the unit
// and its range: it is made again when it is sent again. Pure.
#pragma once

#include <cstdint>

#include "shared/base/ids.h"
#include "shared/base/range_set.h"
#include "shared/protocol/messages.h"

namespace gleaner::loadgen {

struct ResultShape {
  std::int64_t item_bytes = 64;
  bool same_bytes = false;  // every item of every unit: the server's blobs are then all one
  std::uint64_t seed = 1;
};

// The whole of a unit, as a host delivers it with its next request. Its bytes do not compress, as measured
// values seldom do; they travel as a stored zlib block.
[[nodiscard]] protocol::CommitRequest make_result(const ResultShape& shape, UnitId unit, Range range);
// Would it travel with a request? Larger ones are uploaded by clients, and not made here.
[[nodiscard]] bool fits_inline(const ResultShape& shape, Range range);
// A result with the digest of other bytes, as a broken computer sends it.
void spoil(protocol::CommitRequest& result);
// RFC 1950 and 1951, blocks of type 0: what `bytes` would cost to compress is not the generator's to spend.
[[nodiscard]] Bytes stored_zlib(std::string_view bytes);

}  // namespace gleaner::loadgen
