// A tree is removed from its top: what lies in a directory of the top is lifted into the top itself, so that
// everything is at hand by one descriptor and a name. Each directory is lifted once. Cost: O(entries).
#include "shared/io/remove_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "shared/io/descriptor.h"
#include "shared/io/system_error.h"

namespace gleaner::io {
namespace {

// Made readable, writable and passable first where it is ours.
Descriptor open_directory(int parent, const char* name) {
  const Descriptor found(::openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!found.valid()) return {};
  struct stat facts {};
  if (::fstat(found.get(), &facts) == 0 && (facts.st_mode & S_IRWXU) != S_IRWXU)
    (void)::chmod(("/proc/self/fd/" + std::to_string(found.get())).c_str(), S_IRWXU);  // the opening tells
  return Descriptor(::openat(found.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

class Listing {
 public:
  explicit Listing(Descriptor directory)
      : directory_(directory.valid() ? ::fdopendir(directory.release()) : nullptr) {}
  ~Listing() {
    if (directory_ != nullptr) ::closedir(directory_);
  }
  Listing(const Listing&) = delete;
  Listing& operator=(const Listing&) = delete;

  [[nodiscard]] bool valid() const { return directory_ != nullptr; }
  [[nodiscard]] int descriptor() const { return ::dirfd(directory_); }
  void rewind() { ::rewinddir(directory_); }
  // Null at the end.
  [[nodiscard]] const char* next() {
    while (const dirent* entry = ::readdir(directory_)) {
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") return entry->d_name;
    }
    return nullptr;
  }

 private:
  DIR* directory_;
};

class Removal {
 public:
  explicit Removal(Listing& top) : top_(top) {}

  // 0, or why something is left.
  int run() {
    for (bool progress = true; progress;) {
      progress = false;
      trouble_ = 0;
      top_.rewind();
      while (const char* const name = top_.next()) progress = take(name) || progress;
    }
    return trouble_;
  }

 private:
  // Whether anything changed.
  bool take(const char* name) {
    if (gone(top_.descriptor(), name)) return true;
    Listing inner(open_directory(top_.descriptor(), name));
    if (!inner.valid()) {
      trouble_ = errno;
      return false;
    }
    bool changed = false;
    while (const char* const below = inner.next())
      changed = gone(inner.descriptor(), below) || lift(inner.descriptor(), below) || changed;
    return gone(top_.descriptor(), name) || changed;
  }

  bool gone(int parent, const char* name) {
    if (::unlinkat(parent, name, 0) == 0) return true;
    const int as_file = errno;
    if (::unlinkat(parent, name, AT_REMOVEDIR) == 0) return true;
    if (errno != ENOTEMPTY && errno != EEXIST) trouble_ = errno == ENOTDIR ? as_file : errno;
    return false;
  }

  bool lift(int parent, const char* name) {
    (void)open_directory(parent, name);  // what cannot be written to cannot be moved either
    while (::renameat2(parent, name, top_.descriptor(), ("lifted-" + std::to_string(++lifted_)).c_str(),
                       RENAME_NOREPLACE) != 0) {
      if (errno == EEXIST) continue;  // the program gave it that name
      trouble_ = errno;
      return false;
    }
    return true;
  }

  Listing& top_;
  std::uint64_t lifted_ = 0;
  int trouble_ = 0;
};

}  // namespace

Result<bool> remove_tree(const Path& path) {
  const auto failure = [&path](int error_number) {
    return system_error("remove " + path.string(), error_number);
  };
  if (::unlink(path.c_str()) == 0) return true;
  if (errno == ENOENT || errno == ENOTDIR) return false;
  if (errno != EISDIR && errno != EPERM) return failure(errno);
  Listing top(open_directory(AT_FDCWD, path.c_str()));
  if (!top.valid()) return failure(errno);
  const int trouble = Removal(top).run();
  if (::rmdir(path.c_str()) != 0) return failure(trouble != 0 ? trouble : errno);
  return true;
}

}  // namespace gleaner::io
