#include "server/relay/relay_blobs.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "server/storage/blob_inventory.h"
#include "shared/base/limits.h"

namespace gleaner::relay {
namespace {

constexpr std::string_view fetching = "fetched";  // the sender of what is brought
constexpr std::int64_t piece_bytes = 4 << 20;     // bounds memory, and what is lost with this process
constexpr Duration used_for = std::chrono::hours{1};

Timestamp written_at(const io::Path& path) {
  std::error_code failed;
  const auto time = std::filesystem::last_write_time(path, failed);
  if (failed) return {};
  return std::chrono::time_point_cast<Duration>(std::chrono::file_clock::to_sys(time));
}

}  // namespace

RelayBlobs::RelayBlobs(io::Files& files, const io::Path& directory, Parent parent, const Clock& clock,
                       std::int64_t cache_bytes)
    : files_(files),
      cache_directory_(directory / "cache"),
      own_(files, directory),
      cache_(files, cache_directory_),
      parent_(std::move(parent)),
      clock_(clock),
      cache_bytes_(cache_bytes) {}

Status RelayBlobs::open(const std::string& project) {
  TRY(own_.open(project));
  TRY(files_.make_directories(cache_directory_));
  return cache_.open(project);
}

bool RelayBlobs::has(const std::string& digest) {
  return own_.has(digest) || cache_.has(digest);
}

io::Path RelayBlobs::path(const std::string& digest) const {
  return is_own(digest) ? own_.path(digest) : cache_.path(digest);
}

Result<io::Path> RelayBlobs::fetch(const std::string& digest) {
  if (!is_digest(digest)) return Error{ErrorKind::invalid, "expected a SHA-256 digest"};
  if (is_own(digest)) return own_.fetch(digest);
  use(digest);
  const storage::Turns::Turn turn(turns_, digest);
  TRY(bring(digest));
  return cache_.path(digest);
}

Result<std::int64_t> RelayBlobs::size(const std::string& digest) {
  return place(digest).size(digest);
}

Result<Bytes> RelayBlobs::read(const std::string& digest, std::int64_t bytes_max) {
  TRY(fetch(digest));
  return place(digest).read(digest, bytes_max);
}

Status RelayBlobs::verify(const std::string& digest) {
  if (is_own(digest)) return own_.verify(digest);
  TRY(fetch(digest));
  const storage::Turns::Turn turn(turns_, digest);
  if (cache_.verify(digest).ok()) return {};
  return bring(digest);  // what was damaged here is put aside
}

Result<std::int64_t> RelayBlobs::verify_step(Verification& verification, std::int64_t bytes_max,
                                             SteadyTime now) {
  if (is_own(verification.digest)) return own_.verify_step(verification, bytes_max, now);
  auto read = cache_.verify_step(verification, bytes_max, now);
  const bool comes_again =
      !read.ok() && (read.error().kind == ErrorKind::not_found || read.error().kind == ErrorKind::untrusted);
  return comes_again ? Result<std::int64_t>(0) : std::move(read);
}

Result<std::int64_t> RelayBlobs::confirm(const std::string& digest, SteadyTime now) {
  TRY(verify(digest));
  return place(digest).confirm(digest, now);
}

bool RelayBlobs::verified_since(const std::string& digest, SteadyTime time) const {
  return own_.verified_since(digest, time) || cache_.verified_since(digest, time);
}

Status RelayBlobs::bring(const std::string& digest) {
  if (cache_.bytes_of(digest).ok()) return {};
  const Status brought = download(digest);
  if (brought.ok()) return brought;
  ++failed_;
  if (brought.error().kind == ErrorKind::not_found) return brought;
  if (brought.error().kind == ErrorKind::untrusted) ++wrong_;
  // That its parent has other bytes says nothing for good: another answer may be right.
  return Error{ErrorKind::io, brought.error().message};
}

Status RelayBlobs::download(const std::string& digest) {
  TRY_ASSIGN(auto state, cache_.upload_state(digest, fetching));
  std::optional<std::int64_t> all;
  do {
    ++asked_;
    TRY_ASSIGN(const BlobPiece piece, parent_(digest, state.offset, piece_bytes));
    all = piece.all;
    if (piece.bytes.empty() && (!all || state.offset < *all))
      return Error{ErrorKind::unavailable, "the parent has no more of " + digest + " than a part"};
    brought_ += static_cast<std::int64_t>(piece.bytes.size());
    TRY_ASSIGN(state, cache_.append(digest, state.offset, piece.bytes, limits::blob_bytes_max, fetching));
  } while (!all || state.offset < *all);
  return cache_.finish(digest, fetching);
}

void RelayBlobs::use(const std::string& digest) {
  const std::lock_guard lock(mutex_);
  used_[digest] = clock_.now();
}

Result<std::int64_t> RelayBlobs::collect(const std::vector<std::string>& keep, Timestamp now,
                                         Duration stale) {
  TRY_ASSIGN(std::int64_t removed, own_.collect(keep, now, stale));
  TRY_ASSIGN(const std::int64_t uploads, cache_.collect_uploads(now - stale));
  removed += uploads;
  TRY(trim(now, removed));
  return removed;
}

Status RelayBlobs::trim(Timestamp now, std::int64_t& removed) {
  TRY_ASSIGN(const auto cached, storage::list_blobs(files_, cache_directory_));
  struct File {
    Timestamp used;
    std::string digest;
    std::int64_t bytes = 0;
  };
  std::vector<File> files;
  std::int64_t bytes = 0;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [digest, size] : cached.blobs) {
      const auto found = used_.find(digest);
      files.push_back({found == used_.end() ? Timestamp{} : found->second, digest, size});
      bytes += size;
    }
    std::erase_if(used_, [&](const auto& entry) { return !cached.blobs.contains(entry.first); });
  }
  for (File& file : files) file.used = std::max(file.used, written_at(cache_.path(file.digest)));
  std::ranges::sort(files, {}, &File::used);
  for (const File& file : files) {
    if (bytes <= cache_bytes_ || file.used >= now - used_for) break;
    const storage::Turns::Turn turn(turns_, file.digest);
    {
      const std::lock_guard lock(mutex_);
      if (const auto used = used_.find(file.digest); used != used_.end() && used->second > file.used)
        continue;
    }
    TRY(files_.remove(cache_.path(file.digest)));
    bytes -= file.bytes;
    ++removed;
  }
  return {};
}

std::optional<storage::BlobFigures> RelayBlobs::figures() const {
  storage::BlobFigures figures;
  figures.requests = asked_;
  figures.failures = failed_;
  figures.received_bytes = brought_;
  figures.wrong_answers = wrong_;
  return figures;
}

}  // namespace gleaner::relay
