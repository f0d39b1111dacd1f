// A resumable upload: asks how much of the blob the server has, and appends the rest in pieces (compressed
// where that pays). Runs on the data queue; blocks. Errors as in server_call.h; after a refused piece the
// next call asks again.
#pragma once

#include "shared/transport/server_call.h"
#include "shared/transport/workers.h"

namespace gleaner::transport {

inline constexpr std::int64_t upload_piece_bytes = 1 << 20;  // raw

[[nodiscard]] Status upload(JobContext& context, const Server& server, const std::string& digest,
                            std::string_view bytes);

}  // namespace gleaner::transport
