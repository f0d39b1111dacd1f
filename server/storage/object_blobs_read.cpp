// What is in an object store becomes a file here, and what is to be believed of it.
#include <algorithm>
#include <utility>

#include "server/storage/object_blobs.h"
#include "server/storage/object_keys.h"
#include "shared/base/limits.h"

namespace gleaner::storage {
namespace {

constexpr std::string_view fetching = "fetched";  // the sender of what is brought from the store
constexpr std::size_t remembered_max = 65'536;
constexpr Duration doubted_for = std::chrono::hours{1};
constexpr int downloads_max = 3;  // before it is a doubt

// A file that is missing here says nothing of the store.
template <typename T>
Result<T> of_disk(Result<T> done) {
  if (done.ok() || done.error().kind == ErrorKind::untrusted) return done;
  return Error{ErrorKind::io, done.error().message};
}

}  // namespace

bool ObjectBlobs::has(const std::string& digest) {
  return size(digest).ok();
}

io::Path ObjectBlobs::path(const std::string& digest) const {
  return local_.path(digest);
}

Result<io::Path> ObjectBlobs::fetch(const std::string& digest) {
  if (!is_digest(digest)) return no_digest();
  use(digest);
  const Turn turn(turns_, digest);
  TRY(bring(digest));
  return local_.path(digest);
}

Result<std::int64_t> ObjectBlobs::size(const std::string& digest) {
  if (!is_digest(digest)) return no_digest();
  use(digest);
  const Turn turn(turns_, digest);
  TRY_ASSIGN(const bool there, present(digest));
  if (!there) return Error{ErrorKind::not_found, "there is no blob " + digest};
  if (const auto here = local_.bytes_of(digest); here.ok()) return here;
  auto facts = bucket_->look(key_of(digest));
  if (!facts.ok()) return away(facts.error());
  return facts->bytes;
}

Result<Bytes> ObjectBlobs::read(const std::string& digest, std::int64_t bytes_max) {
  for (bool again = false;; again = true) {
    TRY(fetch(digest));
    auto bytes = local_.read(digest, bytes_max);
    if (bytes.ok() && crypto::sha256_hex(*bytes) == digest) return bytes;
    if (!bytes.ok() && bytes.error().kind == ErrorKind::too_large) return bytes;
    if (again)
      return Error{ErrorKind::io, "the file of blob " + digest + " cannot be read as it was written"};
    (void)local_.verify(digest);  // what is damaged here is put aside, and brought anew
  }
}

Status ObjectBlobs::verify(const std::string& digest) {
  if (!is_digest(digest)) return no_digest();
  use(digest);
  const Turn turn(turns_, digest);
  if (local_.verify(digest).ok()) return {};
  return bring(digest);
}

Result<std::int64_t> ObjectBlobs::verify_step(Verification& verification, std::int64_t bytes_max,
                                              SteadyTime /*now*/) {
  const std::string& digest = verification.digest;
  if (!is_digest(digest)) return no_digest();
  TRY(own());
  const auto piece =
      bucket_->get(key_of(digest), verification.offset, std::min(bytes_max, objects::piece_bytes));
  if (piece.ok() && !piece->bytes.empty()) {
    verification.sum.update(piece->bytes);
    verification.offset += static_cast<std::int64_t>(piece->bytes.size());
    return static_cast<std::int64_t>(piece->bytes.size());
  }
  if (!piece.ok() && piece.error().kind != ErrorKind::not_found) return away(piece.error());
  const Turn turn(turns_, digest);
  if (!piece.ok()) {
    TRY(doubt(digest, Wrong::absent));
  } else if (verification.sum.finish_hex() != digest) {
    TRY(doubt(digest, Wrong::bytes));
  } else {
    trust(digest);
  }
  return 0;
}

Result<std::int64_t> ObjectBlobs::confirm(const std::string& digest, SteadyTime now) {
  TRY(verify(digest));
  return local_.confirm(digest, now);
}

bool ObjectBlobs::verified_since(const std::string& digest, SteadyTime time) const {
  return local_.verified_since(digest, time);
}

Status ObjectBlobs::bring(const std::string& digest) {
  if (local_.bytes_of(digest).ok()) return {};
  TRY(own());
  for (int attempt = 1;; ++attempt) {
    const Status brought = download(digest);
    if (brought.ok()) {
      trust(digest);
      return {};
    }
    const ErrorKind kind = brought.error().kind;
    if (kind != ErrorKind::not_found && kind != ErrorKind::untrusted) return away(brought.error());
    if (attempt < downloads_max) continue;
    return doubt(digest, kind == ErrorKind::not_found ? Wrong::absent : Wrong::bytes);
  }
}

// Goes on with what an earlier one has. not_found, untrusted: so the store says.
Status ObjectBlobs::download(const std::string& digest) {
  TRY_ASSIGN(auto state, of_disk(local_.upload_state(digest, fetching)));
  std::int64_t all = 0;
  do {
    TRY_ASSIGN(const auto piece, bucket_->get(key_of(digest), state.offset, objects::piece_bytes));
    all = piece.all;
    if (piece.bytes.empty() && state.offset < all)
      return Error{ErrorKind::io, "the object store has no more of " + digest + " than a part"};
    TRY_ASSIGN(state,
               of_disk(local_.append(digest, state.offset, piece.bytes, limits::blob_bytes_max, fetching)));
  } while (state.offset < all);
  TRY(of_disk(local_.finish(digest, fetching)));
  const std::lock_guard lock(mutex_);
  cached_bytes_ += all;
  return {};
}

Result<bool> ObjectBlobs::present(const std::string& digest) {
  {
    const std::lock_guard lock(mutex_);
    if (known_.contains(digest)) return true;
    if (lost_.contains(digest)) return false;
  }
  TRY(own());
  const auto facts = bucket_->look(key_of(digest));
  if (facts.ok()) return true;
  if (facts.error().kind == ErrorKind::not_found) return false;
  return away(facts.error());
}

void ObjectBlobs::trust(const std::string& digest) {
  const std::lock_guard lock(mutex_);
  if (known_.size() >= remembered_max) known_.clear();
  known_.insert(digest);
  lost_.erase(digest);
  doubts_.erase(digest);
}

Status ObjectBlobs::doubt(const std::string& digest, Wrong wrong) {
  const SteadyTime now = clock_.steady();
  bool believed = false;
  {
    const std::lock_guard lock(mutex_);
    ++wrong_answers_;
    known_.erase(digest);
    Doubt& entry = doubts_.try_emplace(digest, Doubt{now, wrong}).first->second;
    if (entry.wrong != wrong) entry = {now, wrong};
    believed = lost_.contains(digest) || now - entry.since >= doubted_for;
  }
  const std::string what =
      wrong == Wrong::absent ? "has no blob " + digest : "has other bytes than those of blob " + digest;
  const std::string store = "the object store " + bucket_->place().shown() + " ";
  if (believed) {
    const auto right = owner();
    const std::lock_guard lock(mutex_);
    if (right.ok() && *right == project_) {
      lost_.insert(digest);
      doubts_.erase(digest);
      return Error{wrong == Wrong::absent ? ErrorKind::not_found : ErrorKind::untrusted, store + what};
    }
  }
  return Error{ErrorKind::io,
               store + "says that it " + what + ", which may be an error: the server asks again for an hour"};
}

}  // namespace gleaner::storage
