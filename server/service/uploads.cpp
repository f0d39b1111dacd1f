#include "server/service/uploads.h"

#include <algorithm>

#include "shared/base/limits.h"
#include "shared/io/compression.h"
#include "shared/protocol/segment.h"

namespace gleaner::service {
namespace {

// A host that has delivered may have results of units that were taken from it while it was away.
constexpr std::int64_t late_results_bytes = 64 << 20;
constexpr std::int64_t small_files_bytes = 64 << 10;  // of a unit: each takes a block at least

// What all results of the host's open units may take, at most.
std::int64_t allowance(const Model& model, HostId id) {
  const auto found = model.hosts.find(id);
  if (found == model.hosts.end()) return 0;
  const Host& host = found->second;
  std::int64_t bytes = 0;
  for (const UnitId unit : host.units) {
    const auto place = model.open_units.find(unit);
    if (place == model.open_units.end()) continue;
    const Problem& problem = model.problems.at(place->second);
    if (!problem.stage) continue;
    const policy::Unit* held = problem.stage->view().unit(unit);
    if (held == nullptr) continue;
    const std::int64_t items = std::max(held->range.end, held->handed_end) - held->committed;
    bytes += protocol::segment_bytes_bound(items, problem.manifest.item_bytes) + small_files_bytes;
    if (bytes >= limits::segment_bytes_max) break;
  }
  return std::min(bytes, limits::segment_bytes_max) + (host.row.items_accepted > 0 ? late_results_bytes : 0);
}

}  // namespace

Result<protocol::UploadState> Uploads::state(const std::string& digest, std::optional<HostId> host) const {
  if (!storage::BlobStore::is_digest(digest))
    return Error{ErrorKind::invalid, "expected a SHA-256 digest as 64 lower-case hex digits"};
  return kernel_.blobs().upload_state(digest, sender_of(host));
}

void Uploads::look(const std::string& digest, std::optional<HostId> host,
                   const Done<protocol::UploadState>& done) {
  if (!kernel_.blobs().remote()) return done(state(digest, host));
  kernel_.on_blob_pool([this, digest, host, done] { done(state(digest, host)); });
}

void Uploads::upload(Chunk chunk, Done<protocol::UploadState> done) {
  if (!storage::BlobStore::is_digest(chunk.digest))
    return done(Error{ErrorKind::invalid, "expected a SHA-256 digest as 64 lower-case hex digits"});
  if (chunk.length < 0 || chunk.length > chunk.bytes_max)
    return done(Error{ErrorKind::too_large,
                      "Upload-Length is over the limit of " + std::to_string(chunk.bytes_max) + " bytes"});
  const Timestamp now = kernel_.clock().now();
  if (!chunk.host || accounts_.touch(*chunk.host, chunk.digest, now))
    return kernel_.on_blob_pool(
        [this, chunk = std::move(chunk), done = std::move(done)]() mutable { done(take(chunk)); });
  const HostId host = *chunk.host;
  const std::string digest = chunk.digest;
  const std::int64_t length = chunk.length;
  open_account(
      host, digest, length,
      [this, chunk = std::move(chunk), done = std::move(done)](const Status& room) mutable {
        if (!room.ok()) return done(room.error());
        if (!kernel_.blobs().remote()) return done(take(chunk));
        kernel_.on_blob_pool([this, chunk = std::move(chunk), done]() mutable { done(take(chunk)); });
      });
}

void Uploads::open_account(HostId host, const std::string& digest, std::int64_t bytes, StatusDone done) {
  kernel_.decide<std::int64_t>(
      [host](Transaction& tx, Result<std::int64_t>& allowed) -> Status {
        const auto* const upstream = tx.model.upstream.get();
        if (upstream != nullptr && is_full(*upstream, tx.settings))
          allowed = Error{ErrorKind::unavailable,
                          "this relay holds as many results as it may until its parent has taken some"};
        else
          allowed = allowance(tx.model, host);
        return {};
      },
      [this, host, digest, bytes, done = std::move(done)](const Result<std::int64_t>& allowed) {
        if (!allowed.ok()) return done(allowed.error());
        done(accounts_.open(host, digest, bytes, *allowed, kernel_.clock().now()));
      });
}

Result<protocol::UploadState> Uploads::take(Chunk& chunk) {
  if (chunk.compressed) {
    TRY_ASSIGN(chunk.bytes, io::decompress(chunk.bytes, limits::upload_chunk_bytes_max));
  }
  if (chunk.offset + static_cast<std::int64_t>(chunk.bytes.size()) > chunk.length)
    return Error{ErrorKind::invalid, "this piece goes beyond Upload-Length"};
  if (const Status room = kernel_.has_room(reserves_for_uploads); !room.ok())
    return Error{room.error().kind, room.error().message + ": try again later"};
  storage::BlobStore& blobs = kernel_.blobs();
  const std::string sender = sender_of(chunk.host);
  TRY_ASSIGN(auto state, blobs.upload_state(chunk.digest, sender));
  // All of it may be there already: the process before us was killed at the last byte, or another length was
  // named then. Then only the digest is left to be looked at.
  const bool all_there = chunk.offset == chunk.length && state.offset > 0 && state.offset >= chunk.length;
  if (!state.complete && !all_there) {
    TRY_ASSIGN(state, blobs.append(chunk.digest, chunk.offset, chunk.bytes, chunk.bytes_max, sender));
  }
  if (state.complete || state.offset < chunk.length) return state;
  TRY(blobs.finish(chunk.digest, sender));
  state.complete = true;
  return state;
}

}  // namespace gleaner::service
