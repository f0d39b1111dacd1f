// A resumable upload: asks how much of the blob the server has, and appends the rest in pieces that suit the
// line (compressed where that pays), as far as the context allows. A connection that breaks is made again
// while the upload gets on. Runs on the data queue; blocks. Errors as in server_call.h; after a refused piece
// the next call asks again.
#pragma once

#include "shared/transport/piece_size.h"
#include "shared/transport/server_call.h"
#include "shared/transport/transfer_progress.h"
#include "shared/transport/workers.h"

namespace gleaner::transport {

// `pieces`: what is known of the line, kept from one upload to the next. `progress`: none: nobody looks.
[[nodiscard]] Status upload(JobContext& context, const Server& server, const std::string& digest,
                            std::string_view bytes, PieceSize& pieces, TransferProgress* progress = nullptr);

}  // namespace gleaner::transport
