#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "server/storage/directory_lock.h"

namespace gleaner::storage {

Result<std::unique_ptr<DirectoryLock>> DirectoryLock::take(const io::Path& directory) {
  const io::Path path = directory / "store.lock";
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0)
    return Error{ErrorKind::io, "cannot open " + path.string() + ": " +
                                    std::generic_category().message(errno) +
                                    ": check that the directory belongs to the server's user"};
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    const int reason = errno;
    ::close(descriptor);
    if (reason == EWOULDBLOCK)
      return Error{ErrorKind::conflict, "another gleaner-server is using " + directory.string() +
                                            ": stop it, or give this one a directory of its own"};
    return Error{ErrorKind::io, "cannot lock " + path.string() + ": " +
                                    std::generic_category().message(reason) +
                                    ": keep the store on a local disk"};
  }
  return std::unique_ptr<DirectoryLock>(new DirectoryLock(descriptor));
}

DirectoryLock::~DirectoryLock() {
  // Closing is not enough: a child that has not yet become the program it is to be has the file open, too.
  ::flock(descriptor_, LOCK_UN);
  ::close(descriptor_);
}

}  // namespace gleaner::storage
