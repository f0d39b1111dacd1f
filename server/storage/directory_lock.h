// One server a directory: an exclusive lock on DIRECTORY/store.lock, held as long as this lives and let go by
// the system however the process ends. Not inherited by programs that the server starts.
#pragma once

#include <memory>

#include "shared/base/result.h"
#include "shared/io/files.h"

namespace gleaner::storage {

class DirectoryLock {
 public:
  // conflict if another process (or another store of this one) holds it.
  [[nodiscard]] static Result<std::unique_ptr<DirectoryLock>> take(const io::Path& directory);
  ~DirectoryLock();
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;

 private:
  explicit DirectoryLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

}  // namespace gleaner::storage
