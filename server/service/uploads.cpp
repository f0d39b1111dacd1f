// Blobs come in pieces, so that a lost connection costs one piece.
#include "server/service/service.h"
#include "shared/base/limits.h"
#include "shared/io/compression.h"

namespace gleaner::service {

Result<protocol::UploadState> Service::upload_state(const std::string& digest) const {
  if (!storage::BlobStore::is_digest(digest))
    return Error{ErrorKind::invalid, "expected a SHA-256 digest as 64 lower-case hex digits"};
  return blobs_.upload_state(digest);
}

void Service::upload(UploadChunk chunk, Done<protocol::UploadState> done) {
  if (!storage::BlobStore::is_digest(chunk.digest))
    return done(Error{ErrorKind::invalid, "expected a SHA-256 digest as 64 lower-case hex digits"});
  if (chunk.length < 0 || chunk.length > chunk.bytes_max)
    return done(Error{ErrorKind::too_large,
                      "Upload-Length is over the limit of " + std::to_string(chunk.bytes_max) + " bytes"});
  on_pool([this, chunk = std::move(chunk), done = std::move(done)]() mutable {
    done([&]() -> Result<protocol::UploadState> {
      if (chunk.compressed) {
        TRY_ASSIGN(chunk.bytes, io::decompress(chunk.bytes, limits::upload_chunk_bytes_max));
      }
      if (chunk.offset + static_cast<std::int64_t>(chunk.bytes.size()) > chunk.length)
        return Error{ErrorKind::invalid, "this piece goes beyond Upload-Length"};
      const auto free = dependencies_.files.free_bytes(directory_.root());
      if (free.ok() && *free < configuration_.disk_reserve_megabytes * (1 << 20))
        return Error{ErrorKind::unavailable, "the server's disk is nearly full: try again later"};
      TRY_ASSIGN(auto state, blobs_.append(chunk.digest, chunk.offset, chunk.bytes, chunk.bytes_max));
      if (state.complete || state.offset < chunk.length) return state;
      TRY(blobs_.finish(chunk.digest));
      state.complete = true;
      return state;
    }());
  });
}

}  // namespace gleaner::service
