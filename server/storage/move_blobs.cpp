#include "server/storage/move_blobs.h"

#include <algorithm>
#include <sstream>
#include <unordered_set>

#include "server/storage/blob_inventory.h"
#include "server/storage/blob_note.h"
#include "server/storage/file_blobs.h"
#include "server/storage/object_blobs.h"
#include "server/storage/object_inventory.h"

namespace gleaner::storage {
namespace {

constexpr std::int64_t moved_bytes_max = std::int64_t{1} << 32;

// What is done, a digest a line, behind a line with where to.
class MovedList {
 public:
  MovedList(io::Files& files, const io::Path& directory) : files_(files), path_(directory / "blobs.moved") {}

  [[nodiscard]] Status open(const std::string& to) {
    const auto text = files_.read(path_, moved_bytes_max);
    if (!text.ok() && text.error().kind != ErrorKind::not_found) return text.error();
    std::istringstream lines(text.ok() ? *text : "");
    std::string line;
    if (!std::getline(lines, line) || line != to) {
      TRY(files_.remove(path_));
      return add_line(to);
    }
    while (std::getline(lines, line))
      if (BlobStore::is_digest(line)) done_.insert(line);
    bytes_ = static_cast<std::int64_t>(text->size());
    return {};
  }
  [[nodiscard]] bool contains(const std::string& digest) const { return done_.contains(digest); }
  [[nodiscard]] Status add(const std::string& digest) {
    done_.insert(digest);
    return add_line(digest);
  }
  [[nodiscard]] Status remove() { return files_.remove(path_); }

 private:
  [[nodiscard]] Status add_line(const std::string& line) {
    TRY(files_.write_at(path_, bytes_, line + "\n"));
    bytes_ += static_cast<std::int64_t>(line.size()) + 1;
    return {};
  }
  io::Files& files_;
  const io::Path path_;
  std::int64_t bytes_ = 0;
  std::unordered_set<std::string> done_;
};

// The files of the directory, or an object store for which they are the cache.
struct Side {
  std::string shown;  // as blobs.place has it
  std::unique_ptr<FileBlobs> files;
  std::unique_ptr<ObjectBlobs> objects;
};

Result<Side> open_side(io::Files& files, const io::Path& directory, const BlobPlace& place,
                       const std::string& project, Clock& clock) {
  Side side;
  if (place.url.empty()) {
    side.files = std::make_unique<FileBlobs>(files, directory);
    TRY(side.files->open_files());
    return side;
  }
  TRY_ASSIGN(side.objects, make_object_blobs(files, directory, place, clock));
  side.shown = side.objects->shown();
  TRY(side.objects->open_to_move(project));
  return side;
}

// untrusted, not_found: it is lost where it is.
Status move_one(const Side& from, const Side& to, const std::string& digest) {
  TRY(from.objects ? from.objects->verify(digest) : from.files->verify(digest));
  return to.objects ? to.objects->send(digest) : Status{};
}

}  // namespace

Result<BlobMoveReport> move_blobs(io::Files& files, const io::Path& directory, std::vector<std::string> named,
                                  const MoveOptions& options, Clock& clock) {
  TRY_ASSIGN(const Side from, open_side(files, directory, options.from, options.project, clock));
  TRY_ASSIGN(const Side to, open_side(files, directory, options.to, options.project, clock));
  TRY_ASSIGN(const std::string noted, read_blob_note(files, directory));
  if (noted != from.shown)
    return Error{ErrorKind::invalid, "the blobs are in " + (noted.empty() ? "files" : noted) +
                                         ", and blobs.url says otherwise: put it back, or correct it if they "
                                         "were moved"};
  if (from.shown == to.shown) return Error{ErrorKind::invalid, "the blobs are there already"};
  if (options.ahead && (from.objects || !to.objects))
    return Error{ErrorKind::invalid, "--ahead goes from files into an object store"};
  if (options.ahead) {
    TRY_ASSIGN(const auto there, list_blobs(files, directory));
    for (const auto& [digest, bytes] : there.blobs) named.push_back(digest);
  }
  MovedList done(files, directory);
  TRY(done.open(to.shown));
  BlobMoveReport report;
  const auto all = static_cast<std::int64_t>(named.size());
  for (const auto& digest : named) {
    if (options.progress)
      options.progress(report.moved + report.moved_before + static_cast<std::int64_t>(report.lost.size()),
                       all);
    // Of what is to be a file here alone, the cache may have let go since.
    if (to.objects && done.contains(digest)) {
      ++report.moved_before;
      continue;
    }
    const Status moved = move_one(from, to, digest);
    if (!moved.ok() && moved.error().kind != ErrorKind::not_found &&
        moved.error().kind != ErrorKind::untrusted)
      return moved.error();
    if (!moved.ok()) {
      report.lost.push_back(digest);
      continue;
    }
    TRY(done.add(digest));
    ++report.moved;
  }
  if (options.ahead || !report.lost.empty()) return report;
  TRY(write_blob_note(files, directory, to.shown));
  TRY(done.remove());
  return report;
}

Result<PutBackReport> put_back_blobs(io::Files& files, const io::Path& directory, const BlobPlace& place,
                                     const std::string& project, Clock& clock) {
  TRY_ASSIGN(const Side to, open_side(files, directory, place, project, clock));
  TRY_ASSIGN(const auto inventory, ObjectInventory::open(files, place, clock));
  TRY_ASSIGN(const auto there, inventory.list());
  TRY_ASSIGN(const auto here, list_blobs(files, directory));
  PutBackReport report;
  for (const auto& [digest, bytes] : here.blobs) {
    TRY(to.objects->send(digest));
    ++report.blobs;
    if (!there.blobs.contains(digest)) ++report.lacked;
  }
  TRY(write_blob_note(files, directory, to.shown));
  return report;
}

}  // namespace gleaner::storage
