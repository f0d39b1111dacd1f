#include "server/storage/file_blobs_state.h"

#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <system_error>

#include "server/storage/blob_inventory.h"
#include "shared/base/failpoint.h"

namespace gleaner::storage {
namespace {

constexpr std::int64_t chunk_bytes = 1 << 20;

constexpr std::size_t verified_max = 65'536;  // some 15 MB; who has more downloads reads some again

std::int64_t nanoseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

bool is_upload(std::string_view name) {
  return name.ends_with(upload_suffix) && BlobStore::is_digest(name.substr(0, digest_length));
}

}  // namespace

void touch(const io::Path& path) {
  // A failure only shortens the grace of collect().
  std::error_code ignored;
  std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now(), ignored);
}

FileIdentity identity_of(const io::Path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return {};
  return {status.st_dev, status.st_ino, status.st_size, nanoseconds(status.st_mtim),
          nanoseconds(status.st_ctim)};
}

// The interface of files has no times; those of our own files are only compared with a grace period.
bool older_than(const io::Path& path, Timestamp time) {
  std::error_code failed;
  const auto written = std::filesystem::last_write_time(path, failed);
  if (failed) return false;
  return std::chrono::time_point_cast<Duration>(std::chrono::file_clock::to_sys(written)) < time;
}

bool FileBlobs::State::present(const std::string& digest) const {
  if (!files.exists(blob(digest))) return false;
  const std::lock_guard guard(mutex);
  return !doubtful.contains(digest);
}

bool FileBlobs::State::claim(const std::string& digest) {
  const Turn turn(*this, digest);
  if (!present(digest)) return false;
  touch(blob(digest));
  return true;
}

Status FileBlobs::State::make_shelf(const std::string& digest) {
  Shelf& shelf = shelves[static_cast<unsigned char>(from_hex(digest.substr(0, 2))->front())];
  if (shelf.ready) return {};
  const std::lock_guard guard(shelf.mutex);
  if (shelf.ready) return {};
  TRY(files.make_directories(blobs / digest.substr(0, 2)));
  shelf.ready = true;
  return {};
}

Status FileBlobs::State::settle(const std::string& digest, Status outcome) {
  bool doubt = false;
  if (!outcome.ok() && files.exists(blob(digest))) doubt = !files.remove(blob(digest)).ok();
  const std::lock_guard guard(mutex);
  if (doubt)
    doubtful.insert(digest);
  else
    doubtful.erase(digest);
  return outcome;
}

Status FileBlobs::State::move_in(const io::Path& from, const std::string& digest) {
  TRY(files.sync(from));
  TRY(failpoint("blob-move"));
  TRY(make_shelf(digest));
  return settle(digest, files.rename(from, blob(digest)));
}

Result<std::string> FileBlobs::State::copy(const io::Path& from, const io::Path& to) const {
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

void FileBlobs::State::put_aside(const std::string& digest) {
  Status moved = files.make_directories(damaged);
  if (moved.ok()) moved = files.rename(blob(digest), damaged / digest);
  if (!files.exists(blob(digest))) return;
  const std::lock_guard guard(mutex);
  doubtful.insert(digest);  // as good as gone until it is written anew
}

Status FileBlobs::State::look_again(const std::string& digest) {
  const Turn turn(*this, digest);
  if (!present(digest)) return no_such_blob(digest);
  const auto again = digest_of_file(files, blob(digest));
  if (again.ok() && *again == digest) return {};
  put_aside(digest);
  return Error{ErrorKind::untrusted, "the blob " + digest + " is damaged (" +
                                         (again.ok() ? "its digest is " + *again : again.error().message) +
                                         "): it was moved to " + damaged.string()};
}

void FileBlobs::State::remember(const std::string& digest, const FileIdentity& file, SteadyTime now) {
  if (file != identity_of(blob(digest))) return;  // it was touched while it was read
  const std::lock_guard guard(mutex);
  if (verified.size() >= verified_max) verified.clear();
  verified[digest] = {file, now};
}

Result<std::int64_t> FileBlobs::State::collect_shelf(const std::string& shelf,
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

io::Path FileBlobs::State::upload(const std::string& digest, std::string_view sender) const {
  std::string name = digest;
  if (!sender.empty()) name.append("-").append(sender);
  return uploads / name.append(upload_suffix);
}

Result<std::int64_t> FileBlobs::State::collect_uploads(Timestamp before) {
  std::int64_t removed = 0;
  TRY_ASSIGN(const auto names, files.list(uploads));
  for (const auto& name : names) {
    if (!is_upload(name)) continue;
    const Turn turn(*this, name.substr(0, digest_length));
    if (!older_than(uploads / name, before)) continue;
    TRY(files.remove(uploads / name));
    removed++;
  }
  return removed;
}

}  // namespace gleaner::storage
