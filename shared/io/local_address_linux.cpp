#include <fcntl.h>

#include <cerrno>
#include <cstring>

#include "shared/io/local_address.h"

namespace gleaner::io {

Result<LocalAddress> local_address(const Path& path) {
  LocalAddress made;
  made.address.sun_family = AF_UNIX;
  std::string text = path.string();
  if (text.size() >= sizeof made.address.sun_path) {
    made.directory = Descriptor(::open(path.parent_path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!made.directory.valid())
      return Error{errno == ENOENT ? ErrorKind::not_found : ErrorKind::io,
                   "cannot open the directory of the socket " + text + ": " + std::strerror(errno)};
    text = "/proc/self/fd/" + std::to_string(made.directory.get()) + "/" + path.filename().string();
  }
  if (text.size() >= sizeof made.address.sun_path)
    return Error{ErrorKind::io, "the name of the socket " + path.string() + " is too long"};
  std::memcpy(made.address.sun_path, text.c_str(), text.size() + 1);
  return made;
}

}  // namespace gleaner::io
