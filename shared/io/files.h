// The file system, as one interface, so that tests can make it fail. Paths are absolute or relative to the
// process. All writes that return success are durable (file and directory are synced) unless they say
// otherwise. Errors: ErrorKind::io with the path and the system's reason ("No space left on device": free
// some space ...), ErrorKind::not_found where a function says so. The real implementation is thread-safe.
// Platform file: files_linux.cpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/encoding.h"
#include "shared/base/result.h"

namespace gleaner::io {

using Path = std::filesystem::path;

enum class Mode : int { normal = 0644, secret = 0600, executable = 0755 };

class Files {
 public:
  virtual ~Files() = default;
  // Whole files; refuses (too_large) beyond bytes_max.
  [[nodiscard]] virtual Result<Bytes> read(const Path& path, std::int64_t bytes_max) const = 0;
  // The same of a regular file itself, and through no link to one: what a program that is not trusted wrote
  // may point anywhere.
  [[nodiscard]] virtual Result<Bytes> read_plain(const Path& path, std::int64_t bytes_max) const = 0;
  // Fewer bytes only where the file ends before offset + bytes.
  [[nodiscard]] virtual Result<Bytes> read_range(const Path& path, std::int64_t offset,
                                                 std::int64_t bytes) const = 0;
  // Written beside, synced, renamed: the old content or the new one, never a mixture.
  [[nodiscard]] virtual Status write(const Path& path, std::string_view bytes, Mode mode) = 0;
  // At offset (== size to append; beyond it is invalid: no holes); creates the file. Not synced: call sync()
  // before relying on it.
  [[nodiscard]] virtual Status write_at(const Path& path, std::int64_t offset, std::string_view bytes) = 0;
  [[nodiscard]] virtual Status sync(const Path& path) = 0;  // the file's data and its directory entry
  [[nodiscard]] virtual Status rename(const Path& from,
                                      const Path& to) = 0;  // atomic, then syncs the directory
  [[nodiscard]] virtual Status make_directories(const Path& path) = 0;
  [[nodiscard]] virtual Status remove(const Path& path) = 0;  // a file; absent is success
  // A tree, whatever permissions its directories have and however deep it is; absent is success.
  [[nodiscard]] virtual Status remove_all(const Path& path) = 0;
  [[nodiscard]] virtual bool exists(const Path& path) const = 0;
  [[nodiscard]] virtual Result<std::int64_t> size(const Path& path) const = 0;
  [[nodiscard]] virtual Result<std::vector<std::string>> list(
      const Path& directory) const = 0;  // names, sorted
  [[nodiscard]] virtual Result<std::int64_t> free_bytes(const Path& path) const = 0;
};

[[nodiscard]] Files& real_files();

// Is this the name of a file that write() was about to rename when the machine stopped? Remove it at
// start-up.
[[nodiscard]] bool is_leftover(std::string_view name);

// Forwards to another Files, except where told to fail: a full disk, a failing sync. For tests.
class FaultyFiles final : public Files {
 public:
  explicit FaultyFiles(Files& base) : base_(base) {}
  // Called before each change with the operation ("write", "write_at", "sync", "rename", ...) and the path;
  // an error is returned instead of acting. rename is asked about with its target.
  std::function<Status(std::string_view operation, const Path& path)> before_change;
  std::optional<std::int64_t> free;  // what free_bytes() says; absent: the truth

  Result<Bytes> read(const Path& path, std::int64_t bytes_max) const override;
  Result<Bytes> read_plain(const Path& path, std::int64_t bytes_max) const override;
  Result<Bytes> read_range(const Path& path, std::int64_t offset, std::int64_t bytes) const override;
  Status write(const Path& path, std::string_view bytes, Mode mode) override;
  Status write_at(const Path& path, std::int64_t offset, std::string_view bytes) override;
  Status sync(const Path& path) override;
  Status rename(const Path& from, const Path& to) override;
  Status make_directories(const Path& path) override;
  Status remove(const Path& path) override;
  Status remove_all(const Path& path) override;
  bool exists(const Path& path) const override;
  Result<std::int64_t> size(const Path& path) const override;
  Result<std::vector<std::string>> list(const Path& directory) const override;
  Result<std::int64_t> free_bytes(const Path& path) const override;

 private:
  Status ask(std::string_view operation, const Path& path) const;
  Files& base_;
};

}  // namespace gleaner::io
