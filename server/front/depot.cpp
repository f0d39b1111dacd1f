#include "server/front/depot.h"

#include <future>
#include <utility>

#include "server/link/messages.h"
#include "server/storage/blob_inventory.h"
#include "shared/base/limits.h"

namespace gleaner::front {
namespace {

// Shorter each time, until enough is gone.
constexpr Duration unused_for[] = {std::chrono::hours{24}, std::chrono::hours{6}, std::chrono::hours{1}};

struct Piece {
  std::int64_t size = 0;
  Bytes bytes;
};

Result<Piece> ask_piece(link::Client& leader, const std::string& digest, std::int64_t offset) {
  std::promise<Result<Piece>> answer;
  leader.ask(link::Kind::blob, link::pack(link::BlobCall{digest, offset}),
             [&answer](link::Kind kind, std::string_view body) {
               if (kind == link::Kind::error) return answer.set_value(link::unpack_error(body));
               const auto piece = link::unpack<link::BlobAnswer>(body);
               if (!piece.ok()) return answer.set_value(piece.error());
               answer.set_value(Piece{piece->size, Bytes(piece->bytes)});
             });
  return answer.get_future().get();
}

}  // namespace

Result<io::Path> Depot::fetch(const std::string& digest) {
  if (!storage::BlobStore::is_digest(digest))
    return Error{ErrorKind::invalid, "expected a SHA-256 digest as 64 lower-case hex digits"};
  if (blobs_.remote()) return blobs_.fetch(digest);
  {
    std::unique_lock lock(mutex_);
    brought_.wait(lock, [&] { return !coming_.contains(digest); });
    if (blobs_.has(digest)) return blobs_.fetch(digest);
    coming_.insert(digest);
  }
  const Status brought = bring(digest);
  {
    const std::lock_guard lock(mutex_);
    coming_.erase(digest);
  }
  brought_.notify_all();
  TRY(brought);
  return blobs_.fetch(digest);
}

Status Depot::bring(const std::string& digest) {
  TRY_ASSIGN(auto state, blobs_.upload_state(digest));
  while (!state.complete) {
    TRY_ASSIGN(const Piece piece, ask_piece(leader_, digest, state.offset));
    TRY_ASSIGN(state, blobs_.append(digest, state.offset, piece.bytes, limits::blob_bytes_max));
    if (state.offset < piece.size && !piece.bytes.empty()) continue;
    TRY(blobs_.finish(digest));  // compares the digest
    state.complete = true;
  }
  return {};
}

Status trim_files(io::Files& files, const io::Path& directory, storage::BlobStore& blobs,
                  std::int64_t bytes_max, Timestamp now) {
  for (const Duration unused : unused_for) {
    TRY_ASSIGN(const auto listed, storage::list_blobs(files, directory));
    std::int64_t bytes = 0;
    for (const auto& [digest, size] : listed.blobs) bytes += size;
    if (bytes <= bytes_max) break;
    TRY(blobs.collect({}, now, unused));
  }
  return {};
}

}  // namespace gleaner::front
