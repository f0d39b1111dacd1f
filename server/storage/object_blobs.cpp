#include "server/storage/object_blobs.h"

#include <algorithm>
#include <utility>

#include "server/storage/object_keys.h"
#include "server/storage/object_parts.h"

namespace gleaner::storage {
namespace {

// By when a fenced server signed its last removal, and has the store refuse it.
constexpr Duration others_remove_for = objects::removal_valid + std::chrono::minutes{15};
constexpr Duration young = std::chrono::hours{23};  // nobody removes what is not a day old, or nearly
constexpr Duration removable = std::chrono::hours{24};

}  // namespace

ObjectBlobs::ObjectBlobs(io::Files& files, io::Path directory, std::unique_ptr<objects::Bucket> bucket,
                         const Clock& clock, std::int64_t cache_bytes, std::string origin, Servers servers)
    : files_(files),
      directory_(directory),
      local_(files, std::move(directory)),
      bucket_(std::move(bucket)),
      clock_(clock),
      cache_bytes_(cache_bytes),
      origin_(std::move(origin)),
      servers_(servers),
      waits_until_(servers == Servers::several ? clock.steady() + others_remove_for : SteadyTime::min()) {}

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

Result<protocol::UploadState> ObjectBlobs::upload_state(const std::string& digest, std::string_view sender) {
  if (!is_digest(digest)) return no_digest();
  auto state = local_.upload_state(digest, sender);
  if (!state.ok() || (!state->complete && state->offset > 0)) return state;
  const Turn turn(turns_, digest);
  TRY_ASSIGN(const bool there, present(digest));
  if (there) {
    TRY(may_refer(digest));
    if (!state->complete) {
      auto facts = bucket_->look(key_of(digest));
      if (!facts.ok()) return away(facts.error());
      state->offset = facts->bytes;
    }
    state->complete = true;
  } else {
    state->complete = false;  // all of it may be here, and has yet to be sent on: finish()
    if (state->offset == 0) {
      TRY_ASSIGN(const Sent put, sent(digest, sender));
      state->offset = put.bytes;
    }
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
  TRY_ASSIGN(const bool put_there, take_sent(digest, sender));
  const Status right = local_.finish(digest, sender);
  if (right.ok()) {
    const Turn turn(turns_, digest);
    TRY(push(digest));
  }
  if (put_there && (right.ok() || right.error().kind == ErrorKind::untrusted))
    TRY(drop_sent(digest, sender, Timestamp::max()));
  return right;
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
    if (known_.contains(digest) && (young_.contains(digest) || clock_.steady() >= waits_until_)) return {};
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
  if (facts.ok()) TRY(may_refer(digest));  // before it is stored anew, too: its removal may be under way
  if (!there || suspect) {
    const auto etag = send_file(*bucket_, files_, file, key, outline);
    if (!etag.ok())  // an upload that it does not know any more begins anew
      return Error{ErrorKind::io, "the blob " + digest + " is not stored: " + etag.error().message};
    if (*etag != outline.etag || suspect) TRY(is_kept(digest));
    const std::lock_guard lock(mutex_);
    if (clock_.steady() < waits_until_) young_.insert(digest);
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

Status ObjectBlobs::may_refer(const std::string& digest) {
  const SteadyTime now = clock_.steady();
  {
    const std::lock_guard lock(mutex_);
    if (now >= waits_until_) young_.clear();
    if (now >= waits_until_ || young_.contains(digest)) return {};
  }
  const auto facts = bucket_->look(key_of(digest));
  if (!facts.ok()) return Error{ErrorKind::io, facts.error().message};
  if (facts->modified < clock_.now() - young)
    return Error{ErrorKind::io, "the blob " + digest +
                                    " was stored before this server led the project, and the server that "
                                    "did may be removing it: try again in an hour"};
  const std::lock_guard lock(mutex_);
  young_.insert(digest);
  return {};
}

Result<bool> ObjectBlobs::discard(const std::string& digest, Timestamp before, std::string_view sender) {
  if (!is_digest(digest)) return no_digest();
  const Turn turn(turns_, digest);
  TRY_ASSIGN(bool removed, local_.discard(digest, before, sender));
  TRY(own());
  TRY(drop_sent(digest, sender, before));
  if (used_since(digest, before)) return removed;
  const auto facts = bucket_->look(key_of(digest));
  if (!facts.ok()) {
    if (facts.error().kind == ErrorKind::not_found) return removed;
    return away(facts.error());
  }
  const Timestamp by_others = servers_ == Servers::several ? clock_.now() - removable : before;
  if (facts->modified >= std::min(before, by_others)) return removed;
  {
    const std::lock_guard lock(mutex_);
    known_.erase(digest);
  }
  if (const Status gone = bucket_->remove(key_of(digest)); !gone.ok()) return away(gone.error());
  return true;
}

}  // namespace gleaner::storage
