#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>

#include "shared/base/paths.h"
#include "shared/io/descriptor.h"
#include "shared/io/files.h"
#include "shared/io/remove_tree.h"
#include "shared/io/system_error.h"

namespace gleaner::io {
namespace {

constexpr std::string_view leftover_prefix = ".gleaner-writing-";

Path parent_of(const Path& path) {
  return path.has_parent_path() ? path.parent_path() : Path(".");
}

Error failure(std::string_view verb, const Path& path, int error_number = errno) {
  return system_error(std::string(verb) + " " + utf8_text(path), error_number);
}

Descriptor open_descriptor(const Path& path, int flags, mode_t mode = 0) {
  int number = -1;
  do {
    number = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  } while (number < 0 && errno == EINTR);
  return Descriptor(number);
}

// Regular files only: a FIFO or a device that somebody put in the file's place must not block us.
Result<Descriptor> open_to_read(const Path& path, int more_flags = 0) {
  Descriptor file = open_descriptor(path, O_RDONLY | O_NONBLOCK | more_flags);
  if (!file.valid()) return failure("read", path);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return failure("read", path);
  if (!S_ISREG(status.st_mode))
    return Error{ErrorKind::io, "cannot read " + utf8_text(path) + ": it is not a regular file"};
  return file;
}

// Appends up to `bytes` from `offset` on; stops early at the end of the file.
Status read_into(Bytes& into, int descriptor, const Path& path, std::int64_t offset, std::int64_t bytes) {
  constexpr std::int64_t piece = 1 << 20;
  while (bytes > 0) {
    const auto old_size = into.size();
    into.resize(old_size + static_cast<std::size_t>(std::min(bytes, piece)));
    const ssize_t got = ::pread(descriptor, into.data() + old_size, into.size() - old_size, offset);
    const int error_number = errno;
    into.resize(old_size + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && error_number == EINTR) continue;
    if (got < 0) return failure("read", path, error_number);
    if (got == 0) break;
    offset += got;
    bytes -= got;
  }
  return {};
}

Status write_all(int descriptor, const Path& path, std::int64_t offset, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::pwrite(descriptor, bytes.data(), bytes.size(), offset);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return failure("write", path);
    bytes.remove_prefix(static_cast<std::size_t>(put));
    offset += put;
  }
  return {};
}

Status sync_descriptor(int descriptor, const Path& path) {
  if (::fsync(descriptor) != 0) return failure("write to disk", path);
  return {};
}

Status sync_directory(const Path& directory) {
  const Descriptor opened = open_descriptor(directory, O_RDONLY | O_DIRECTORY);
  if (!opened.valid()) return failure("open directory", directory);
  return sync_descriptor(opened.get(), directory);
}

class RealFiles final : public Files {
 public:
  Result<Bytes> read(const Path& path, std::int64_t bytes_max) const override {
    return read_whole(path, bytes_max, 0);
  }

  Result<Bytes> read_plain(const Path& path, std::int64_t bytes_max) const override {
    return read_whole(path, bytes_max, O_NOFOLLOW);
  }

  Result<Bytes> read_range(const Path& path, std::int64_t offset, std::int64_t bytes) const override {
    if (offset < 0 || bytes < 0)
      return Error{ErrorKind::invalid, "cannot read " + utf8_text(path) + ": negative range"};
    TRY_ASSIGN(const Descriptor file, open_to_read(path));
    Bytes part;
    TRY(read_into(part, file.get(), path, offset, bytes));
    return part;
  }

  Status write(const Path& path, std::string_view bytes, Mode mode) override {
    static std::atomic<std::uint64_t> counter{0};
    const Path beside = parent_of(path) / (std::string(leftover_prefix) + std::to_string(::getpid()) + "-" +
                                           std::to_string(counter.fetch_add(1)));
    const Status written = write_beside(beside, path, bytes, mode);
    if (!written.ok()) ::unlink(beside.c_str());  // nothing can be done if that fails too; start-up cleans
    return written;
  }

  Status write_at(const Path& path, std::int64_t offset, std::string_view bytes) override {
    const Descriptor file = open_descriptor(path, O_WRONLY | O_CREAT, static_cast<mode_t>(Mode::normal));
    if (!file.valid()) return failure("write", path);
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) return failure("write", path);
    if (offset < 0 || offset > status.st_size)
      return Error{ErrorKind::invalid, "cannot write " + utf8_text(path) + " at " + std::to_string(offset) +
                                           ": the file ends at " + std::to_string(status.st_size)};
    return write_all(file.get(), path, offset, bytes);
  }

  Status sync(const Path& path) override {
    const Descriptor file = open_descriptor(path, O_RDONLY | O_NONBLOCK);
    if (!file.valid()) return failure("write to disk", path);
    TRY(sync_descriptor(file.get(), path));
    return sync_directory(parent_of(path));
  }

  Status rename(const Path& from, const Path& to) override {
    if (::rename(from.c_str(), to.c_str()) != 0)
      return failure("rename", utf8_text(from) + " to " + utf8_text(to));
    TRY(sync_directory(parent_of(to)));
    if (parent_of(from) != parent_of(to)) TRY(sync_directory(parent_of(from)));
    return {};
  }

  Status make_directories(const Path& path) override {
    Path so_far;
    for (const Path& part : path) {
      so_far /= part;
      if (::mkdir(so_far.c_str(), 0755) == 0) {
        TRY(sync_directory(parent_of(so_far)));
        continue;
      }
      const int error_number = errno;
      struct stat status {};
      if (::stat(so_far.c_str(), &status) != 0) return failure("create directory", so_far, error_number);
      if (!S_ISDIR(status.st_mode))
        return Error{ErrorKind::io, "cannot create directory " + utf8_text(path) + ": " + utf8_text(so_far) +
                                        " is a file: move it away"};
    }
    return {};
  }

  Status remove(const Path& path) override {
    if (::unlink(path.c_str()) != 0) {
      if (errno == ENOENT || errno == ENOTDIR) return {};
      return failure("remove", path);
    }
    return sync_directory(parent_of(path));
  }

  Status remove_all(const Path& path) override {
    TRY_ASSIGN(const bool removed, remove_tree(path));
    return removed ? sync_directory(parent_of(path)) : Status{};
  }

  bool exists(const Path& path) const override { return ::access(path.c_str(), F_OK) == 0; }

  Result<std::int64_t> size(const Path& path) const override {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return failure("read", path);
    return static_cast<std::int64_t>(status.st_size);
  }

  Result<std::vector<std::string>> list(const Path& directory) const override {
    std::error_code code;
    std::filesystem::directory_iterator entries(directory, code);
    std::vector<std::string> names;
    while (!code && entries != std::filesystem::directory_iterator{}) {
      names.push_back(utf8_text(entries->path().filename()));
      entries.increment(code);
    }
    if (code) return failure("list directory", directory, code.value());
    std::sort(names.begin(), names.end());
    return names;
  }

  Result<std::int64_t> free_bytes(const Path& path) const override {
    struct statvfs status {};
    if (::statvfs(path.c_str(), &status) != 0) return failure("see the free space of", path);
    return static_cast<std::int64_t>(status.f_bavail) * static_cast<std::int64_t>(status.f_frsize);
  }

 private:
  static Result<Bytes> read_whole(const Path& path, std::int64_t bytes_max, int flags) {
    TRY_ASSIGN(const Descriptor file, open_to_read(path, flags));
    Bytes bytes;
    TRY(read_into(bytes, file.get(), path, 0, bytes_max + 1));
    if (std::cmp_greater(bytes.size(), bytes_max))
      return Error{ErrorKind::too_large,
                   utf8_text(path) + " is larger than the " + std::to_string(bytes_max) + " bytes allowed"};
    return bytes;
  }

  static Status write_beside(const Path& beside, const Path& path, std::string_view bytes, Mode mode) {
    // Never into a leftover of an earlier process with this pid: it may have another mode.
    ::unlink(beside.c_str());
    const Descriptor file = open_descriptor(beside, O_WRONLY | O_CREAT | O_EXCL, static_cast<mode_t>(mode));
    if (!file.valid()) return failure("write", path);
    TRY(write_all(file.get(), path, 0, bytes));
    TRY(sync_descriptor(file.get(), path));
    if (::rename(beside.c_str(), path.c_str()) != 0) return failure("write", path);
    return sync_directory(parent_of(path));
  }
};

}  // namespace

Files& real_files() {
  static RealFiles files;
  return files;
}

bool is_leftover(std::string_view name) {
  return name.starts_with(leftover_prefix);
}

}  // namespace gleaner::io
