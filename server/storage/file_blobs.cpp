#include "server/storage/file_blobs.h"

#include <algorithm>
#include <unordered_set>

#include "server/storage/blob_inventory.h"
#include "server/storage/blob_note.h"
#include "server/storage/file_blobs_state.h"
#include "shared/base/failpoint.h"

namespace gleaner::storage {
namespace {

constexpr std::int64_t confirm_bytes = 1 << 20;  // at once

Error not_a_digest() {
  return {ErrorKind::invalid, "a blob is named by its SHA-256 in 64 lower-case hexadecimal digits"};
}

}  // namespace

Error no_such_blob(const std::string& digest) {
  return {ErrorKind::not_found, "there is no blob " + digest};
}

FileBlobs::FileBlobs(io::Files& files, io::Path directory)
    : state_(std::make_unique<State>(files, std::move(directory))) {}
FileBlobs::~FileBlobs() = default;

std::string BlobStore::address(const std::string& /*digest*/, Duration /*valid*/) const {
  return {};
}

Result<std::vector<protocol::PartAddress>> BlobStore::put_addresses(const std::string& /*digest*/,
                                                                    std::int64_t /*bytes*/,
                                                                    Duration /*valid*/,
                                                                    std::string_view /*sender*/) {
  return Error{ErrorKind::not_found, "uploads to this server go through it alone"};
}

bool BlobStore::is_digest(std::string_view text) {
  return text.size() == digest_length && std::all_of(text.begin(), text.end(), [](char character) {
           return (character >= '0' && character <= '9') || (character >= 'a' && character <= 'f');
         });
}

Status FileBlobs::open(const std::string& /*project*/) {
  State& state = *state_;
  TRY_ASSIGN(const std::string noted, read_blob_note(state.files, state.blobs.parent_path()));
  if (!noted.empty()) return not_moved("nothing (files)", noted);
  return open_files();
}

Status FileBlobs::open_files() {
  State& state = *state_;
  TRY(state.files.make_directories(state.blobs));
  TRY(state.files.make_directories(state.uploads));
  // A rename of the process before us may not have reached the disk: make it durable before it is believed.
  TRY_ASSIGN(const auto shelves, state.files.list(state.blobs));
  for (const auto& name : shelves) {
    const auto number = from_hex(name);
    if (!number || number->size() != 1) continue;
    TRY(state.files.sync(state.blobs / name));
    state.shelves[static_cast<unsigned char>(number->front())].ready = true;
  }
  TRY_ASSIGN(const auto names, state.files.list(state.uploads));
  for (const auto& name : names) {
    if (name.ends_with(copy_suffix) || io::is_leftover(name)) TRY(state.files.remove(state.uploads / name));
  }
  return {};
}

Result<std::string> FileBlobs::put(std::string_view bytes) {
  std::string digest = crypto::sha256_hex(bytes);
  const State::Turn turn(*state_, digest);
  if (state_->present(digest)) {
    touch(state_->blob(digest));
    return digest;
  }
  TRY(state_->make_shelf(digest));
  TRY(failpoint("blob-write"));
  TRY(state_->settle(digest, state_->files.write(state_->blob(digest), bytes, io::Mode::normal)));
  TRY(failpoint("blob-written"));
  return digest;
}

Result<std::string> FileBlobs::put_file(const io::Path& path) {
  State& state = *state_;
  const io::Path beside = state.uploads / (std::to_string(state.copies++) + std::string(copy_suffix));
  const auto done = [&]() -> Result<std::string> {
    TRY(state.files.remove(beside));
    TRY_ASSIGN(std::string digest, state.copy(path, beside));
    const State::Turn turn(state, digest);
    if (state.present(digest))
      touch(state.blob(digest));
    else
      TRY(state.move_in(beside, digest));
    return digest;
  }();
  // Not there any more if it was renamed. A copy that cannot be removed now goes when the store is opened
  // next, and does not make a stored blob a failure.
  (void)state.files.remove(beside);
  return done;
}

bool FileBlobs::has(const std::string& digest) {
  return is_digest(digest) && state_->claim(digest);
}

io::Path FileBlobs::path(const std::string& digest) const {
  return is_digest(digest) ? state_->blob(digest) : state_->blobs / "not-a-digest";
}

Result<io::Path> FileBlobs::fetch(const std::string& digest) {
  if (!is_digest(digest)) return not_a_digest();
  if (!state_->present(digest)) return no_such_blob(digest);
  return state_->blob(digest);
}

Result<std::int64_t> FileBlobs::size(const std::string& digest) {
  if (!is_digest(digest)) return not_a_digest();
  if (!state_->claim(digest)) return no_such_blob(digest);
  return state_->files.size(state_->blob(digest));
}

Result<std::int64_t> FileBlobs::bytes_of(const std::string& digest) const {
  if (!is_digest(digest)) return not_a_digest();
  if (!state_->present(digest)) return no_such_blob(digest);
  return state_->files.size(state_->blob(digest));
}

Result<Bytes> FileBlobs::read(const std::string& digest, std::int64_t bytes_max) {
  if (!is_digest(digest)) return not_a_digest();
  if (!state_->claim(digest)) return no_such_blob(digest);
  return state_->files.read(state_->blob(digest), bytes_max);
}

Result<Bytes> FileBlobs::read_range(const std::string& digest, std::int64_t offset,
                                    std::int64_t bytes) const {
  if (!is_digest(digest)) return not_a_digest();
  if (!state_->present(digest)) return no_such_blob(digest);
  return state_->files.read_range(state_->blob(digest), offset, bytes);
}

Status FileBlobs::verify(const std::string& digest) {
  if (!is_digest(digest)) return not_a_digest();
  State& state = *state_;
  if (!state.present(digest)) return no_such_blob(digest);
  const auto found = digest_of_file(state.files, state.blob(digest));
  return found.ok() && *found == digest ? Status{} : state.look_again(digest);
}

Result<std::int64_t> FileBlobs::verify_step(Verification& verification, std::int64_t bytes_max,
                                            SteadyTime now) {
  const std::string& digest = verification.digest;
  if (!is_digest(digest)) return not_a_digest();
  State& state = *state_;
  if (!state.present(digest)) return no_such_blob(digest);
  const io::Path path = state.blob(digest);
  if (verification.offset == 0) verification.file = identity_of(path);
  const auto piece = state.files.read_range(path, verification.offset, bytes_max);
  if (piece.ok() && !piece->empty()) {
    verification.sum.update(*piece);
    verification.offset += static_cast<std::int64_t>(piece->size());
    return static_cast<std::int64_t>(piece->size());
  }
  if (!piece.ok() || verification.sum.finish_hex() != digest) {
    TRY(state.look_again(digest));
    return 0;
  }
  state.remember(digest, verification.file, now);
  return 0;
}

Result<std::int64_t> FileBlobs::confirm(const std::string& digest, SteadyTime now) {
  Verification reading{digest};
  for (;;) {
    TRY_ASSIGN(const std::int64_t read, verify_step(reading, confirm_bytes, now));
    if (read == 0) return bytes_of(digest);
  }
}

bool FileBlobs::verified_since(const std::string& digest, SteadyTime time) const {
  const FileIdentity present = is_digest(digest) ? identity_of(state_->blob(digest)) : FileIdentity{};
  const std::lock_guard guard(state_->mutex);
  const auto found = state_->verified.find(digest);
  return found != state_->verified.end() && found->second.at >= time && found->second.file == present &&
         !state_->doubtful.contains(digest);
}

Result<protocol::UploadState> FileBlobs::upload_state(const std::string& digest, std::string_view sender) {
  if (!is_digest(digest)) return not_a_digest();
  const bool complete = state_->present(digest);
  const io::Path file = complete ? state_->blob(digest) : state_->upload(digest, sender);
  const auto bytes = state_->files.size(file);
  if (bytes.ok()) return protocol::UploadState{digest, *bytes, complete};
  if (!complete && bytes.error().kind == ErrorKind::not_found) return protocol::UploadState{digest, 0, false};
  return bytes.error();
}

Result<protocol::UploadState> FileBlobs::append(const std::string& digest, std::int64_t offset,
                                                std::string_view bytes, std::int64_t bytes_max,
                                                std::string_view sender) {
  if (!is_digest(digest)) return not_a_digest();
  const State::Turn turn(*state_, digest);
  TRY_ASSIGN(auto upload, upload_state(digest, sender));
  if (upload.complete) return upload;
  if (offset != upload.offset)
    return Error{ErrorKind::conflict, "the upload of " + digest + " has " + std::to_string(upload.offset) +
                                          " bytes, not " + std::to_string(offset) + ": continue from there"};
  if (std::cmp_greater(bytes.size(), bytes_max - offset))
    return Error{ErrorKind::too_large, "the upload of " + digest + " would exceed the " +
                                           std::to_string(bytes_max) + " bytes allowed"};
  TRY(state_->files.write_at(state_->upload(digest, sender), offset, bytes));
  upload.offset += static_cast<std::int64_t>(bytes.size());
  return upload;
}

Status FileBlobs::finish(const std::string& digest, std::string_view sender) {
  if (!is_digest(digest)) return not_a_digest();
  State& state = *state_;
  const State::Turn turn(state, digest);
  const io::Path file = state.upload(digest, sender);
  if (state.present(digest)) {
    touch(state.blob(digest));
    return state.files.remove(file);
  }
  if (!state.files.exists(file))
    return Error{ErrorKind::not_found,
                 "nothing of the blob " + digest + " has been uploaded: start at byte 0"};
  TRY_ASSIGN(const std::string found, digest_of_file(state.files, file));
  if (found != digest) {
    TRY(state.files.remove(file));
    return Error{ErrorKind::untrusted, "what was uploaded as " + digest + " has the digest " + found +
                                           " and was dropped: upload it again from byte 0"};
  }
  return state.move_in(file, digest);
}

Result<bool> FileBlobs::discard(const std::string& digest, Timestamp before, std::string_view sender) {
  if (!is_digest(digest)) return not_a_digest();
  const State::Turn turn(*state_, digest);
  bool removed = false;
  for (const io::Path& file : {state_->upload(digest, sender), state_->blob(digest)}) {
    if (!state_->files.exists(file) || !older_than(file, before)) continue;
    TRY(state_->files.remove(file));
    removed = true;
  }
  return removed;
}

Result<std::int64_t> FileBlobs::collect_uploads(Timestamp before) {
  return state_->collect_uploads(before);
}

Result<std::int64_t> FileBlobs::collect(const std::vector<std::string>& keep, Timestamp now, Duration stale) {
  const std::unordered_set<std::string_view> kept(keep.begin(), keep.end());
  const Timestamp before = now - stale;
  TRY_ASSIGN(std::int64_t removed, state_->collect_uploads(before));
  TRY_ASSIGN(const auto shelves, state_->files.list(state_->blobs));
  for (const auto& shelf : shelves) {
    if (shelf.size() != 2 || !from_hex(shelf)) continue;
    TRY_ASSIGN(const std::int64_t more, state_->collect_shelf(shelf, kept, before));
    removed += more;
  }
  return removed;
}

}  // namespace gleaner::storage
