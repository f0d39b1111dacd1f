// All blobs of a project from files into an object store, from there into files, or into another object
// store; in the files of one directory, which are the cache of a store. Every blob is compared with its
// digest. Who is interrupted goes on: the file blobs.moved has what is done. One thread; blocks.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "server/storage/open_blobs.h"

namespace gleaner::storage {

struct MoveOptions {
  std::string project;
  BlobPlace from, to;
  // Copies from files what there is, while the server may run, and changes nothing else: the move itself is
  // the shorter.
  bool ahead = false;
  std::function<void(std::int64_t done, std::int64_t all)> progress = {};  // blobs
};

struct BlobMoveReport {
  std::int64_t moved = 0, moved_before = 0;
  std::vector<std::string>
      lost;  // digests of those that are damaged or gone where they are: nothing is changed
};

// `named`: the digests that rows name (Store::referenced_blobs), of a store that nobody serves; not with
// `ahead`. When all are moved, blobs.place says so, and blobs.url has to say the same. Errors: io (a store is
// away, or the disk fails: try again), invalid.
[[nodiscard]] Result<BlobMoveReport> move_blobs(io::Files& files, const io::Path& directory,
                                                std::vector<std::string> named, const MoveOptions& options,
                                                Clock& clock);

struct PutBackReport {
  std::int64_t blobs = 0, lacked = 0;  // files here; of them, those that the store had not listed
};
// The files of a restored directory into the object store that its rows' blobs were in: what that has as it
// is to be stays. blobs.place says so then. Errors: io (it is away: try again by move_blobs(), from files),
// invalid.
[[nodiscard]] Result<PutBackReport> put_back_blobs(io::Files& files, const io::Path& directory,
                                                   const BlobPlace& place, const std::string& project,
                                                   Clock& clock);

}  // namespace gleaner::storage
