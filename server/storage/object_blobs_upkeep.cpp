// An object store's owner, what nobody needs any more there and here, and how it is.
#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "server/storage/blob_inventory.h"
#include "server/storage/blob_note.h"
#include "server/storage/object_blobs.h"
#include "server/storage/object_keys.h"

namespace gleaner::storage {
namespace {

constexpr Duration collected_every = std::chrono::hours{6};
constexpr Duration used_for = std::chrono::hours{1};

Timestamp written_at(const io::Path& path) {
  std::error_code failed;
  const auto time = std::filesystem::last_write_time(path, failed);
  if (failed) return {};
  return std::chrono::time_point_cast<Duration>(std::chrono::file_clock::to_sys(time));
}

}  // namespace

Status ObjectBlobs::open(const std::string& project) {
  {
    const std::lock_guard lock(mutex_);
    project_ = project;
  }
  TRY(local_.open_files());
  TRY_ASSIGN(const auto cached, list_blobs(files_, directory_));
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [digest, bytes] : cached.blobs) cached_bytes_ += bytes;
  }
  TRY_ASSIGN(const std::string noted, read_blob_note(files_, directory_));
  if (noted.empty() && !cached.blobs.empty()) return not_moved(bucket_->place().shown(), "files");
  if (!noted.empty() && noted != bucket_->place().shown()) return not_moved(bucket_->place().shown(), noted);
  const Status owned = claim();
  return !owned.ok() && owned.error().kind == ErrorKind::io ? Status{} : owned;
}

Status ObjectBlobs::open_to_move(const std::string& project) {
  {
    const std::lock_guard lock(mutex_);
    project_ = project;
    moving_ = true;
  }
  TRY(local_.open_files());
  return claim();
}

Status ObjectBlobs::own() {
  const Status owned = claim();
  // Somebody has to do something; until then nothing is lost.
  if (!owned.ok()) return Error{ErrorKind::io, owned.error().message};
  return {};
}

Result<std::string> ObjectBlobs::owner() {
  return read_owner(*bucket_);
}

Status ObjectBlobs::claim() {
  const std::lock_guard owning(owning_);
  std::string project;
  bool moving = false;
  {
    const std::lock_guard lock(mutex_);
    if (owned_) return {};
    project = project_;
    moving = moving_;
  }
  auto found = owner();
  if (!found.ok() && found.error().kind == ErrorKind::not_found) {
    TRY_ASSIGN(const std::string noted, moving ? std::string() : read_blob_note(files_, directory_));
    // Blobs without an owner are somebody's, and a store that had one has forgotten.
    TRY_ASSIGN(const auto there, bucket_->list("", ""));
    if (!noted.empty() || !there.objects.empty())
      return Error{ErrorKind::invalid,
                   bucket_->place().shown() + " has no object \"owner\", and " +
                       (noted.empty() ? "others: name an empty bucket, or another prefix in blobs.url"
                                      : "had one: bring back what the bucket had, or restore a backup")};
    TRY(bucket_->put(owner_key, std::string(owner_line) + project + "\n"));
    found = owner();
  }
  TRY(found);
  if (*found != project)
    return Error{ErrorKind::invalid, bucket_->place().shown() +
                                         " has the blobs of another project: name another bucket, or another "
                                         "prefix in blobs.url"};
  if (!moving) TRY(write_blob_note(files_, directory_, bucket_->place().shown()));
  const std::lock_guard lock(mutex_);
  owned_ = true;
  return {};
}

Status ObjectBlobs::health() const {
  return bucket_->health();
}

void ObjectBlobs::probe() {
  if (own().ok()) (void)owner();  // what it came to is health()
}

std::optional<BlobFigures> ObjectBlobs::figures() const {
  const auto of_bucket = bucket_->figures();
  const std::lock_guard lock(mutex_);
  return BlobFigures{of_bucket.requests,       of_bucket.failures, of_bucket.sent_bytes,
                     of_bucket.received_bytes, wrong_answers_,     cached_bytes_};
}

void ObjectBlobs::use(const std::string& digest) {
  const std::lock_guard lock(mutex_);
  used_[digest] = clock_.now();
}

bool ObjectBlobs::used_since(const std::string& digest, Timestamp time) const {
  const std::lock_guard lock(mutex_);
  const auto found = used_.find(digest);
  return found != used_.end() && found->second >= time;
}

Result<std::int64_t> ObjectBlobs::collect(const std::vector<std::string>& keep, Timestamp now,
                                          Duration stale) {
  const std::unique_lock only(collecting_, std::try_to_lock);
  if (!only) return 0;  // the one before waits for the store
  const Timestamp before = now - stale;
  TRY_ASSIGN(std::int64_t removed, local_.collect_uploads(before));
  TRY(collect_cache(now));
  if (collected_at_ != Timestamp{} && now >= collected_at_ && now < collected_at_ + collected_every)
    return removed;
  TRY_ASSIGN(const std::int64_t objects, collect_objects({keep.begin(), keep.end()}, before));
  collected_at_ = now;
  const std::lock_guard lock(mutex_);
  std::erase_if(used_, [&](const auto& entry) { return entry.second < before; });
  return removed + objects;
}

Result<std::int64_t> ObjectBlobs::collect_objects(const std::unordered_set<std::string_view>& keep,
                                                  Timestamp before) {
  TRY(own());
  std::int64_t removed = 0;
  const std::string prefix = "blobs/";
  std::string from;
  do {
    TRY_ASSIGN(const auto listing, bucket_->list(prefix, from));
    for (const auto& object : listing.objects) {
      const std::string digest = object.key.substr(prefix.size());
      if (!is_digest(digest) || keep.contains(digest) || object.modified >= before) continue;
      // In turn, so that who is about to refer to it either has used it or stores it anew.
      const Turn turn(turns_, digest);
      if (used_since(digest, before)) continue;
      {
        const std::lock_guard lock(mutex_);
        known_.erase(digest);
      }
      TRY(bucket_->remove(object.key));
      ++removed;
    }
    from = listing.next;
  } while (!from.empty());
  TRY_ASSIGN(const std::int64_t put, collect_sent(before));
  for (const char* of : {"blobs/", "sent/"}) {
    TRY_ASSIGN(const auto uploads, bucket_->uploads(of));
    for (const auto& upload : uploads)
      if (upload.begun < before) TRY(bucket_->abort(upload.key, upload.id));
  }
  return removed + put;
}

// The files here that were not used for longest go first.
Status ObjectBlobs::collect_cache(Timestamp now) {
  TRY_ASSIGN(const auto cached, list_blobs(files_, directory_));
  struct File {
    Timestamp used;
    std::string digest;
    std::int64_t bytes;
  };
  std::vector<File> files;
  std::int64_t bytes = 0;
  for (const auto& [digest, size] : cached.blobs) {
    Timestamp used = written_at(local_.path(digest));
    {
      const std::lock_guard lock(mutex_);
      if (const auto found = used_.find(digest); found != used_.end()) used = std::max(used, found->second);
    }
    files.push_back({used, digest, size});
    bytes += size;
  }
  std::sort(files.begin(), files.end(), [](const File& a, const File& b) { return a.used < b.used; });
  for (const File& file : files) {
    if (bytes <= cache_bytes_ || file.used >= now - used_for) break;
    const Turn turn(turns_, file.digest);
    if (used_since(file.digest, now - used_for)) continue;
    TRY(files_.remove(local_.path(file.digest)));
    bytes -= file.bytes;
  }
  const std::lock_guard lock(mutex_);
  cached_bytes_ = bytes;
  return {};
}

}  // namespace gleaner::storage
