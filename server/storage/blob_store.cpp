#include "server/storage/blob_store.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <system_error>
#include <unordered_set>

#include "shared/crypto/keys.h"

namespace gleaner::storage {
namespace {

constexpr std::int64_t chunk_bytes = 1 << 20;
constexpr std::string_view upload_suffix = ".part";
constexpr std::string_view copy_suffix = ".copy";  // being copied in: worthless after a restart
constexpr std::size_t digest_length = 64;

Error not_a_digest() {
  return {ErrorKind::invalid, "a blob is named by its SHA-256 in 64 lower-case hexadecimal digits"};
}

bool ends_with_digest_and(std::string_view name, std::string_view suffix) {
  return name.size() == digest_length + suffix.size() && name.ends_with(suffix) &&
         BlobStore::is_digest(name.substr(0, digest_length));
}

// The interface of files has no times; those of our own files are only compared with a grace period.
bool older_than(const io::Path& path, Timestamp time) {
  std::error_code failed;
  const auto written = std::filesystem::last_write_time(path, failed);
  if (failed) return false;
  return std::chrono::time_point_cast<Duration>(std::chrono::file_clock::to_sys(written)) < time;
}

void touch(const io::Path& path) {
  // A failure only shortens the grace of collect().
  std::error_code ignored;
  std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now(), ignored);
}

Result<std::string> digest_of(const io::Files& files, const io::Path& path) {
  crypto::Sha256 digest;
  for (std::int64_t offset = 0;;) {
    TRY_ASSIGN(const Bytes bytes, files.read_range(path, offset, chunk_bytes));
    if (bytes.empty()) return digest.finish_hex();
    digest.update(bytes);
    offset += static_cast<std::int64_t>(bytes.size());
  }
}

}  // namespace

struct BlobStore::State {
  State(io::Files& files_used, io::Path directory)
      : files(files_used), blobs(directory / "blobs"), uploads(directory / "uploads") {}

  // Serialises the changes of one digest; others are never waited for.
  class Turn {
   public:
    Turn(State& state, std::string digest) : state_(state), digest_(std::move(digest)) {
      {
        const std::lock_guard guard(state.mutex);
        entry_ = &state.turns[digest_];
        entry_->users++;
      }
      entry_->mutex.lock();
    }
    ~Turn() {
      entry_->mutex.unlock();
      const std::lock_guard guard(state_.mutex);
      if (--entry_->users == 0) state_.turns.erase(digest_);
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    struct Entry {
      std::mutex mutex;
      int users = 0;
    };

   private:
    State& state_;
    const std::string digest_;
    Entry* entry_;
  };

  // One of blobs/00 ... blobs/ff, made when first needed.
  struct Shelf {
    std::mutex mutex;
    std::atomic<bool> ready = false;
  };

  [[nodiscard]] io::Path blob(const std::string& digest) const {
    return blobs / digest.substr(0, 2) / digest;
  }
  [[nodiscard]] io::Path upload(const std::string& digest) const {
    return uploads / (digest + std::string(upload_suffix));
  }

  [[nodiscard]] bool present(const std::string& digest) const {
    if (!files.exists(blob(digest))) return false;
    const std::lock_guard guard(mutex);
    return !doubtful.contains(digest);
  }

  Status make_shelf(const std::string& digest) {
    Shelf& shelf = shelves[static_cast<unsigned char>(from_hex(digest.substr(0, 2))->front())];
    if (shelf.ready) return {};
    const std::lock_guard guard(shelf.mutex);
    if (shelf.ready) return {};
    TRY(files.make_directories(blobs / digest.substr(0, 2)));
    shelf.ready = true;
    return {};
  }

  // Remembers whether the blob can be believed. After a failed rename it may be there without being durable.
  Status settle(const std::string& digest, Status outcome) {
    bool doubt = false;
    if (!outcome.ok() && files.exists(blob(digest))) doubt = !files.remove(blob(digest)).ok();
    const std::lock_guard guard(mutex);
    if (doubt)
      doubtful.insert(digest);
    else
      doubtful.erase(digest);
    return outcome;
  }

  // A complete file beside becomes the blob.
  Status move_in(const io::Path& from, const std::string& digest) {
    TRY(files.sync(from));
    TRY(make_shelf(digest));
    return settle(digest, files.rename(from, blob(digest)));
  }

  // Written to `to` while its digest is computed, so that a source that changes meanwhile cannot deceive.
  Result<std::string> copy(const io::Path& from, const io::Path& to) {
    crypto::Sha256 digest;
    for (std::int64_t offset = 0;;) {
      TRY_ASSIGN(const Bytes bytes, files.read_range(from, offset, chunk_bytes));
      if (bytes.empty() && offset > 0) break;
      digest.update(bytes);
      TRY(files.write_at(to, offset, bytes));
      if (bytes.empty()) break;
      offset += static_cast<std::int64_t>(bytes.size());
    }
    return digest.finish_hex();
  }

  Result<std::int64_t> collect_shelf(const std::string& shelf,
                                     const std::unordered_set<std::string_view>& keep, Timestamp before);
  Result<std::int64_t> collect_uploads(Timestamp before);

  io::Files& files;
  const io::Path blobs;
  const io::Path uploads;
  std::array<Shelf, 256> shelves;
  std::atomic<std::uint64_t> copies = 0;
  mutable std::mutex mutex;  // guards what follows; never held during input or output
  std::map<std::string, Turn::Entry> turns;
  std::set<std::string> doubtful;
};

BlobStore::BlobStore(io::Files& files, io::Path directory)
    : state_(std::make_unique<State>(files, std::move(directory))) {}
BlobStore::~BlobStore() = default;

bool BlobStore::is_digest(std::string_view text) {
  return text.size() == digest_length && std::all_of(text.begin(), text.end(), [](char character) {
           return (character >= '0' && character <= '9') || (character >= 'a' && character <= 'f');
         });
}

Status BlobStore::open() {
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

Result<std::string> BlobStore::put(std::string_view bytes) {
  std::string digest = crypto::sha256_hex(bytes);
  const State::Turn turn(*state_, digest);
  if (state_->present(digest)) {
    touch(state_->blob(digest));
    return digest;
  }
  TRY(state_->make_shelf(digest));
  TRY(state_->settle(digest, state_->files.write(state_->blob(digest), bytes, io::Mode::normal)));
  return digest;
}

Result<std::string> BlobStore::put_file(const io::Path& path) {
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

bool BlobStore::has(const std::string& digest) const {
  return is_digest(digest) && state_->present(digest);
}

io::Path BlobStore::path(const std::string& digest) const {
  return is_digest(digest) ? state_->blob(digest) : state_->blobs / "not-a-digest";
}

Result<std::int64_t> BlobStore::size(const std::string& digest) const {
  if (!is_digest(digest)) return not_a_digest();
  if (!state_->present(digest)) return Error{ErrorKind::not_found, "there is no blob " + digest};
  return state_->files.size(state_->blob(digest));
}

Result<Bytes> BlobStore::read(const std::string& digest, std::int64_t bytes_max) const {
  if (!is_digest(digest)) return not_a_digest();
  if (!state_->present(digest)) return Error{ErrorKind::not_found, "there is no blob " + digest};
  return state_->files.read(state_->blob(digest), bytes_max);
}

Result<Bytes> BlobStore::read_range(const std::string& digest, std::int64_t offset,
                                    std::int64_t bytes) const {
  if (!is_digest(digest)) return not_a_digest();
  if (!state_->present(digest)) return Error{ErrorKind::not_found, "there is no blob " + digest};
  return state_->files.read_range(state_->blob(digest), offset, bytes);
}

Result<protocol::UploadState> BlobStore::upload_state(const std::string& digest) const {
  if (!is_digest(digest)) return not_a_digest();
  const bool complete = state_->present(digest);
  const io::Path file = complete ? state_->blob(digest) : state_->upload(digest);
  const auto bytes = state_->files.size(file);
  if (bytes.ok()) return protocol::UploadState{digest, *bytes, complete};
  if (!complete && bytes.error().kind == ErrorKind::not_found) return protocol::UploadState{digest, 0, false};
  return bytes.error();
}

Result<protocol::UploadState> BlobStore::append(const std::string& digest, std::int64_t offset,
                                                std::string_view bytes, std::int64_t bytes_max) {
  if (!is_digest(digest)) return not_a_digest();
  const State::Turn turn(*state_, digest);
  TRY_ASSIGN(auto upload, upload_state(digest));
  if (upload.complete) return upload;
  if (offset != upload.offset)
    return Error{ErrorKind::conflict, "the upload of " + digest + " has " + std::to_string(upload.offset) +
                                          " bytes, not " + std::to_string(offset) + ": go on from there"};
  if (std::cmp_greater(bytes.size(), bytes_max - offset))
    return Error{ErrorKind::too_large, "the upload of " + digest + " would exceed the " +
                                           std::to_string(bytes_max) + " bytes allowed"};
  TRY(state_->files.write_at(state_->upload(digest), offset, bytes));
  upload.offset += static_cast<std::int64_t>(bytes.size());
  return upload;
}

Status BlobStore::finish(const std::string& digest) {
  if (!is_digest(digest)) return not_a_digest();
  State& state = *state_;
  const State::Turn turn(state, digest);
  const io::Path file = state.upload(digest);
  if (state.present(digest)) {
    touch(state.blob(digest));
    return state.files.remove(file);
  }
  if (!state.files.exists(file))
    return Error{ErrorKind::not_found,
                 "nothing of the blob " + digest + " has been uploaded: start at byte 0"};
  TRY_ASSIGN(const std::string found, digest_of(state.files, file));
  if (found != digest) {
    TRY(state.files.remove(file));
    return Error{ErrorKind::untrusted, "what was uploaded as " + digest + " has the digest " + found +
                                           " and was dropped: upload it again from byte 0"};
  }
  return state.move_in(file, digest);
}

Result<std::int64_t> BlobStore::State::collect_shelf(const std::string& shelf,
                                                     const std::unordered_set<std::string_view>& keep,
                                                     Timestamp before) {
  std::int64_t removed = 0;
  TRY_ASSIGN(const auto names, files.list(blobs / shelf));
  for (const auto& name : names) {
    const bool blob_name = is_digest(name);
    if (blob_name ? keep.contains(name) : !io::is_leftover(name)) continue;
    // In turn, so that a put() of the same bytes either has touched the file or will write it anew.
    const Turn turn(*this, name);
    if (!older_than(blobs / shelf / name, before)) continue;
    TRY(files.remove(blobs / shelf / name));
    removed++;
  }
  return removed;
}

Result<std::int64_t> BlobStore::State::collect_uploads(Timestamp before) {
  std::int64_t removed = 0;
  TRY_ASSIGN(const auto names, files.list(uploads));
  for (const auto& name : names) {
    if (!ends_with_digest_and(name, upload_suffix)) continue;
    const Turn turn(*this, name.substr(0, digest_length));
    if (!older_than(uploads / name, before)) continue;
    TRY(files.remove(uploads / name));
    removed++;
  }
  return removed;
}

Result<std::int64_t> BlobStore::collect(const std::vector<std::string>& keep, Timestamp now, Duration stale) {
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
