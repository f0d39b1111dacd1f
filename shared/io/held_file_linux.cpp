#include "shared/io/held_file.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>

namespace gleaner::io {
namespace {

Path path_of(const Descriptor& descriptor) {
  return "/proc/self/fd/" + std::to_string(descriptor.get());
}

}  // namespace

std::optional<HeldFile> HeldFile::open_in(const Path& directory, const Path& relative) {
  const Descriptor base(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!base.valid()) return std::nullopt;
  open_how how{};
  how.flags = O_RDONLY | O_NONBLOCK | O_CLOEXEC;  // a FIFO must not block us
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  Descriptor file(static_cast<int>(::syscall(SYS_openat2, base.get(), relative.c_str(), &how, sizeof how)));
  struct stat facts {};
  if (!file.valid() || ::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return std::nullopt;
  std::error_code error;
  Path name = std::filesystem::read_symlink(path_of(file), error);
  if (error) return std::nullopt;
  return HeldFile(std::move(file), std::move(name));
}

Path HeldFile::path() const {
  return path_of(*descriptor_);
}

}  // namespace gleaner::io
