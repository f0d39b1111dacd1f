#include "server/service/uploads.h"

#include "shared/base/limits.h"
#include "shared/io/compression.h"

namespace gleaner::service {

Result<protocol::UploadState> Uploads::state(const std::string& digest) const {
  if (!storage::BlobStore::is_digest(digest))
    return Error{ErrorKind::invalid, "expected a SHA-256 digest as 64 lower-case hex digits"};
  return kernel_.blobs().upload_state(digest);
}

void Uploads::upload(Chunk chunk, Done<protocol::UploadState> done) {
  if (!storage::BlobStore::is_digest(chunk.digest))
    return done(Error{ErrorKind::invalid, "expected a SHA-256 digest as 64 lower-case hex digits"});
  if (chunk.length < 0 || chunk.length > chunk.bytes_max)
    return done(Error{ErrorKind::too_large,
                      "Upload-Length is over the limit of " + std::to_string(chunk.bytes_max) + " bytes"});
  kernel_.on_pool([this, chunk = std::move(chunk), done = std::move(done)]() mutable { done(take(chunk)); });
}

Result<protocol::UploadState> Uploads::take(Chunk& chunk) {
  if (chunk.compressed) {
    TRY_ASSIGN(chunk.bytes, io::decompress(chunk.bytes, limits::upload_chunk_bytes_max));
  }
  if (chunk.offset + static_cast<std::int64_t>(chunk.bytes.size()) > chunk.length)
    return Error{ErrorKind::invalid, "this piece goes beyond Upload-Length"};
  if (const Status room = kernel_.has_room(); !room.ok())
    return Error{room.error().kind, room.error().message + ": try again later"};
  storage::BlobStore& blobs = kernel_.blobs();
  TRY_ASSIGN(auto state, blobs.append(chunk.digest, chunk.offset, chunk.bytes, chunk.bytes_max));
  if (state.complete || state.offset < chunk.length) return state;
  TRY(blobs.finish(chunk.digest));
  state.complete = true;
  return state;
}

}  // namespace gleaner::service
