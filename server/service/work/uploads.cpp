#include "server/service/work/uploads.h"
#include "server/service/core/dispatch_terms.h"

#include <algorithm>

#include "shared/base/limits.h"
#include "shared/io/compression.h"
#include "shared/protocol/segment.h"

namespace gleaner::service {
namespace {

// A known host that has delivered may have results of units that nobody remembers any more.
constexpr std::int64_t late_results_bytes = 64 << 20;
constexpr int late_units_max = 100;                   // the last ones of a host that are looked at
constexpr std::int64_t small_files_bytes = 64 << 10;  // of a unit: each takes a block at least

// What the results of a unit may take that are not committed.
std::int64_t bytes_of(const Problem& problem, const policy::Unit& unit) {
  const std::int64_t items = std::max(unit.range.end, unit.handed_end) - unit.committed;
  return protocol::segment_bytes_bound(items, problem.manifest.item_bytes) + small_files_bytes;
}

// Of units that were taken from the host, while it was away or slow.
Result<std::int64_t> late_results(Transaction& tx, HostId host) {
  TRY_ASSIGN(const auto units, tx.store.host_units(host, late_units_max));
  std::int64_t bytes = 0;
  for (const auto& place : units) {
    const auto problem = tx.model.problems.find(place.problem);
    const bool taken =
        place.unit.state == policy::UnitState::expired || place.unit.state == policy::UnitState::cancelled;
    if (!taken || problem == tx.model.problems.end()) continue;
    bytes = std::min(bytes + bytes_of(problem->second, place.unit), limits::segment_bytes_max);
  }
  return bytes;
}

// What all results of the host's units may take, at most.
Result<std::int64_t> allowance(Transaction& tx, const Host& host) {
  std::int64_t bytes = 0;
  for (const UnitId unit : host.units) {
    const auto place = tx.model.open_units.find(unit);
    if (place == tx.model.open_units.end()) continue;
    const Problem& problem = tx.model.problems.at(place->second);
    if (!problem.stage) continue;
    const policy::Unit* held = problem.stage->view().unit(unit);
    if (held == nullptr) continue;
    bytes += bytes_of(problem, *held);
    if (bytes >= limits::segment_bytes_max) break;
  }
  TRY_ASSIGN(std::int64_t late, late_results(tx, host.row.id));
  if (host.row.items_accepted > 0 && tx.model.project->reputation().is_known(host.row.id, tx.now))
    late = std::max(late, late_results_bytes);
  return std::min(bytes, limits::segment_bytes_max) + late;
}

// Without its room.
Result<UploadAccounts::Terms> terms_of(Transaction& tx, HostId id) {
  UploadAccounts::Terms terms;
  const auto host = tx.model.hosts.find(id);
  if (host == tx.model.hosts.end()) return terms;
  TRY_ASSIGN(terms.allowance, allowance(tx, host->second));
  if (!tx.model.project->reputation().is_known(id, tx.now)) terms.network = host->second.row.network;
  return terms;
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
  kernel_.decide<UploadAccounts::Terms>(
      [host](Transaction& tx, Result<UploadAccounts::Terms>& terms) -> Status {
        if (const Status room = tx.model.origin->has_room(tx.settings); !room.ok()) {
          terms = room.error();
          return {};
        }
        TRY_ASSIGN(terms, terms_of(tx, host));
        return {};
      },
      [this, host, digest, bytes, done = std::move(done)](Result<UploadAccounts::Terms> terms) {
        if (!terms.ok()) return done(terms.error());
        terms->room = kernel_.room(reserves_for_uploads);
        done(accounts_.open(host, digest, bytes, *terms, kernel_.clock().now()));
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
