#include "shared/io/held_file.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <cerrno>
#include <system_error>

namespace gleaner::io {
namespace {

Path path_of(const Descriptor& descriptor) {
  return "/proc/self/fd/" + std::to_string(descriptor.get());
}

}  // namespace

Result<HeldFile> HeldFile::open_in(const Path& directory, const Path& relative) {
  const auto failed = [] { return Error{ErrorKind::io, std::generic_category().message(errno)}; };
  const Descriptor base(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!base.valid()) return failed();
  open_how how{};
  how.flags = O_RDONLY | O_NONBLOCK | O_CLOEXEC;  // a FIFO must not block us
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  Descriptor file(static_cast<int>(::syscall(SYS_openat2, base.get(), relative.c_str(), &how, sizeof how)));
  struct stat facts {};
  if (!file.valid() || ::fstat(file.get(), &facts) != 0) return failed();
  if (!S_ISREG(facts.st_mode)) return Error{ErrorKind::io, "it is no regular file"};
  std::error_code error;
  Path name = std::filesystem::read_symlink(path_of(file), error);
  if (error) return Error{ErrorKind::io, error.message()};
  return HeldFile(std::move(file), std::move(name));
}

Path HeldFile::path() const {
  return path_of(*descriptor_);
}

}  // namespace gleaner::io
