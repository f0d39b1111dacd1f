// zlib (RFC 1950) with a bound on what comes out. Thread-safe.
#pragma once

#include <cstdint>
#include <string_view>

#include "shared/base/encoding.h"
#include "shared/base/result.h"

namespace gleaner::io {

[[nodiscard]] Bytes compress(std::string_view bytes);
// too_large beyond bytes_max; invalid if the stream is damaged, ends early or goes on behind its end.
[[nodiscard]] Result<Bytes> decompress(std::string_view bytes, std::int64_t bytes_max);

}  // namespace gleaner::io
