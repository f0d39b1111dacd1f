#include "shared/io/place_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "shared/io/system_error.h"

namespace gleaner::io {

Result<Placed> place_file(const Path& from, const Path& to, Place how) {
  std::error_code why;
  if (how == Place::link_or_copy) {
    std::filesystem::create_hard_link(from, to, why);
    if (!why) return Placed::linked;
  }
  // Another file system, or one without links.
  why.clear();
  const bool copied = std::filesystem::copy_file(from, to, why);
  if (why || !copied) return system_error("copy " + from.string() + " to " + to.string(), why.value());
  return Placed::copied;
}

Status sync_file_system(const Path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool synced = descriptor >= 0 && ::syncfs(descriptor) == 0;
  const int why = errno;
  if (descriptor >= 0) ::close(descriptor);
  if (synced) return {};
  return system_error("make durable what was written to " + path.string(), why);
}

}  // namespace gleaner::io
