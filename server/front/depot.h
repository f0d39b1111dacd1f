// Blobs of the project in this front end's directory: from the object store if there is one, else from the
// leader, piece by piece; compared with their digests either way. Every call may block. Thread-safe.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "server/link/client.h"
#include "server/storage/blob_store.h"
#include "shared/io/files.h"

namespace gleaner::front {

class Depot {
 public:
  // `blobs`: of this front end's directory, opened. All must outlive it.
  Depot(storage::BlobStore& blobs, link::Client& leader) : blobs_(blobs), leader_(leader) {}
  // A file with it, which stays for an hour at least. Errors as BlobStore's, or the leader's.
  [[nodiscard]] Result<io::Path> fetch(const std::string& digest);

 private:
  [[nodiscard]] Status bring(const std::string& digest);

  storage::BlobStore& blobs_;
  link::Client& leader_;
  std::mutex mutex_;
  std::condition_variable brought_;
  std::set<std::string> coming_;  // guarded by it: somebody brings these
};

// Of blobs in files that came from a leader those go that were not used for longest, until `bytes_max` are
// left, but none of the last hour.
[[nodiscard]] Status trim_files(io::Files& files, const io::Path& directory, storage::BlobStore& blobs,
                                std::int64_t bytes_max, Timestamp now);

}  // namespace gleaner::front
