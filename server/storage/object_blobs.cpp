#include "server/storage/object_blobs.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "server/storage/blob_inventory.h"
#include "server/storage/object_parts.h"
#include "shared/base/limits.h"

namespace gleaner::storage {
namespace {

constexpr std::string_view fetching = "fetched";  // the sender of what is brought from the store
constexpr std::size_t remembered_max = 65'536;
constexpr Duration doubted_for = std::chrono::hours{1};
constexpr int downloads_max = 3;  // before it is a doubt

std::string key_of(const std::string& digest) {
  return "blobs/" + digest;
}

Error no_digest() {
  return {ErrorKind::invalid, "a blob is named by its SHA-256 in 64 lower-case hexadecimal digits"};
}

// A request that is refused may be granted again when somebody has mended the settings: nothing is lost.
Error away(Error error) {
  if (error.kind == ErrorKind::forbidden) error.kind = ErrorKind::io;
  return error;
}

// A file that is missing here says nothing of the store.
template <typename T>
Result<T> of_disk(Result<T> done) {
  if (done.ok() || done.error().kind == ErrorKind::untrusted) return done;
  return Error{ErrorKind::io, done.error().message};
}

}  // namespace

ObjectBlobs::ObjectBlobs(io::Files& files, io::Path directory, std::unique_ptr<objects::Bucket> bucket,
                         const Clock& clock, std::int64_t cache_bytes)
    : files_(files),
      directory_(directory),
      local_(files, std::move(directory)),
      bucket_(std::move(bucket)),
      clock_(clock),
      cache_bytes_(cache_bytes) {}

Result<std::string> ObjectBlobs::put(std::string_view bytes) {
  TRY(own());  // before there are files that would seem to be all blobs of the project
  TRY_ASSIGN(const std::string digest, local_.put(bytes));
  const Turn turn(turns_, digest);
  TRY(push(digest));
  return digest;
}

Result<std::string> ObjectBlobs::put_file(const io::Path& path) {
  TRY(own());
  TRY_ASSIGN(const std::string digest, local_.put_file(path));
  const Turn turn(turns_, digest);
  TRY(push(digest));
  return digest;
}

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

Result<protocol::UploadState> ObjectBlobs::upload_state(const std::string& digest, std::string_view sender) {
  if (!is_digest(digest)) return no_digest();
  auto state = local_.upload_state(digest, sender);
  if (!state.ok() || (!state->complete && state->offset > 0)) return state;
  const Turn turn(turns_, digest);
  TRY_ASSIGN(const bool there, present(digest));
  if (there) {
    if (!state->complete) {
      auto facts = bucket_->look(key_of(digest));
      if (!facts.ok()) return away(facts.error());
      state->offset = facts->bytes;
    }
    state->complete = true;
  } else {
    state->complete = false;  // all of it may be here, and has yet to be sent on: finish()
  }
  return state;
}

Result<protocol::UploadState> ObjectBlobs::append(const std::string& digest, std::int64_t offset,
                                                  std::string_view bytes, std::int64_t bytes_max,
                                                  std::string_view sender) {
  auto state = local_.append(digest, offset, bytes, bytes_max, sender);
  if (state.ok()) state->complete = false;  // here; finish() is what makes it so
  return state;
}

Status ObjectBlobs::finish(const std::string& digest, std::string_view sender) {
  if (!is_digest(digest)) return no_digest();
  use(digest);
  TRY(own());
  TRY(local_.finish(digest, sender));
  const Turn turn(turns_, digest);
  return push(digest);
}

Status ObjectBlobs::send(const std::string& digest) {
  if (!is_digest(digest)) return no_digest();
  const Turn turn(turns_, digest);
  return push(digest);
}

Status ObjectBlobs::push(const std::string& digest) {
  use(digest);
  TRY(own());
  bool suspect = false;  // the store may have the right name on the wrong bytes
  {
    const std::lock_guard lock(mutex_);
    if (known_.contains(digest)) return {};
    suspect = doubts_.contains(digest) || lost_.contains(digest);
  }
  const io::Path file = local_.path(digest);
  TRY_ASSIGN(const Outline outline, outline_file(files_, file));
  if (outline.digest != digest) {
    (void)local_.verify(digest);
    return Error{ErrorKind::io, "the file of blob " + digest + " cannot be read as it was written"};
  }
  const std::string key = key_of(digest);
  const auto facts = bucket_->look(key);
  if (!facts.ok() && facts.error().kind != ErrorKind::not_found) return away(facts.error());
  const bool there =
      facts.ok() && facts->bytes == outline.bytes && facts->etag == outline.etag && !outline.etag.empty();
  if (!there || suspect) {
    const auto etag = send_file(*bucket_, files_, file, key, outline);
    if (!etag.ok())  // an upload that it does not know any more begins anew
      return Error{ErrorKind::io, "the blob " + digest + " is not stored: " + etag.error().message};
    if (*etag != outline.etag || suspect) TRY(is_kept(digest));
  }
  trust(digest);
  return {};
}

Status ObjectBlobs::is_kept(const std::string& digest) {
  Verification reading{digest};
  for (;;) {
    const auto piece = bucket_->get(key_of(digest), reading.offset, objects::piece_bytes);
    if (piece.ok() && !piece->bytes.empty()) {
      reading.sum.update(piece->bytes);
      reading.offset += static_cast<std::int64_t>(piece->bytes.size());
      if (reading.offset < piece->all) continue;
    }
    if (piece.ok() && reading.sum.finish_hex() == digest) return {};
    const std::lock_guard lock(mutex_);
    ++wrong_answers_;
    return Error{ErrorKind::io, "the object store " + bucket_->place().shown() +
                                    " did not keep what it was given as " + digest +
                                    (piece.ok() ? "" : ": " + piece.error().message)};
  }
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
               store + "says that it " + what + ", which is not believed yet: it is asked again for an hour"};
}

Result<bool> ObjectBlobs::discard(const std::string& digest, Timestamp before, std::string_view sender) {
  if (!is_digest(digest)) return no_digest();
  const Turn turn(turns_, digest);
  TRY_ASSIGN(bool removed, local_.discard(digest, before, sender));
  if (used_since(digest, before)) return removed;
  TRY(own());
  const auto facts = bucket_->look(key_of(digest));
  if (!facts.ok()) {
    if (facts.error().kind == ErrorKind::not_found) return removed;
    return away(facts.error());
  }
  if (facts->modified >= before) return removed;
  {
    const std::lock_guard lock(mutex_);
    known_.erase(digest);
  }
  if (const Status gone = bucket_->remove(key_of(digest)); !gone.ok()) return away(gone.error());
  return true;
}

}  // namespace gleaner::storage
