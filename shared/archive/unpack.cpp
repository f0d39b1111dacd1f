#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <memory>
#include <set>

#include "shared/archive/archive.h"
#include "shared/archive/archive_parts.h"
#include "shared/base/check.h"
#include "shared/base/paths.h"
#include "shared/io/descriptor.h"
#include "shared/io/system_error.h"

namespace gleaner::archives {
namespace {

Error refused(const std::string& name, const std::string& reason) {
  return {ErrorKind::invalid, "the archive is refused: " + shown_path(name) + " " + reason};
}

// Splits "a/./b" into {"a", "b"}; refuses what could lead out of the directory.
Result<std::vector<std::string>> components_of(const std::string& name) {
  if (!is_portable_path(name)) return refused(name, "is not a name of printable ASCII without backslash");
  if (name.front() == '/') return refused(name, "is an absolute path");
  std::vector<std::string> components;
  for (std::size_t begin = 0; begin < name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    const std::string component = name.substr(begin, end - begin);
    if (component == "..") return refused(name, "leads out of its directory (\"..\")");
    if (!component.empty() && component != ".") components.push_back(component);
    begin = end + 1;
  }
  return components;
}

class Unpacking {
 public:
  Unpacking(io::Path into, std::int64_t bytes_max, int files_max)
      : into_(std::move(into)), bytes_max_(bytes_max), files_max_(files_max), bytes_left_(bytes_max) {}

  Status run(std::string_view bytes) {
    const Reader reader(archive_read_new());
    CHECK_TRUE(reader != nullptr);
    CHECK_TRUE(archive_read_support_filter_gzip(reader.get()) == ARCHIVE_OK);
    CHECK_TRUE(archive_read_support_format_tar(reader.get()) == ARCHIVE_OK);
    if (archive_read_open_memory(reader.get(), bytes.data(), bytes.size()) != ARCHIVE_OK)
      return damaged(reader);
    archive_entry* entry = nullptr;
    int result = archive_read_next_header(reader.get(), &entry);
    for (; result == ARCHIVE_OK; result = archive_read_next_header(reader.get(), &entry))
      TRY(extract(reader, entry));
    if (result != ARCHIVE_EOF) return damaged(reader);
    return sync_directories();
  }

 private:
  static Error damaged(const Reader& reader) {
    return {ErrorKind::invalid, "the archive is damaged, or not a tar.gz archive (" +
                                    reason_of(reader.get()) + "): fetch or pack it again"};
  }

  Status extract(const Reader& reader, archive_entry* entry) {
    const char* given = archive_entry_pathname(entry);
    const std::string name = given != nullptr ? given : "";
    TRY_ASSIGN(const auto components, components_of(name));
    if (archive_entry_hardlink(entry) != nullptr || archive_entry_symlink(entry) != nullptr)
      return refused(name, "is a link: only files and directories are allowed");
    const auto type = archive_entry_filetype(entry);
    if (type != AE_IFREG && type != AE_IFDIR)
      return refused(name, "is a device or another special file: only files and directories are allowed");
    if (components.empty()) {  // "./" itself, which some packers write
      if (type == AE_IFDIR) return {};
      return refused(name, "is not the name of a file");
    }

    std::string path;
    for (std::size_t i = 0; i + 1 < components.size(); ++i) {
      path += (i > 0 ? "/" : "") + components[i];
      TRY(make_directory(name, path));
    }
    path += (path.empty() ? "" : "/") + components.back();
    if (!seen_.insert(path).second) return refused(name, "is in it twice");
    if (type == AE_IFDIR) return make_directory(name, path);
    return write_file(reader, entry, name, path);
  }

  Status count() {
    if (++files_ > files_max_)
      return Error{ErrorKind::too_large,
                   "the archive is refused: it has more than " + std::to_string(files_max_) + " files"};
    return {};
  }

  // `path` is below the target, and so is everything before it: links are never made here.
  Status make_directory(const std::string& name, const std::string& path) {
    if (directories_.contains(path)) return {};
    TRY(count());
    if (::mkdir((into_ / utf8_path(path)).c_str(), 0755) != 0) {
      if (errno == EEXIST || errno == ENOTDIR) return refused(name, "is below a file");
      return io::system_error("create directory " + utf8_text(into_ / utf8_path(path)), errno);
    }
    directories_.insert(path);
    return {};
  }

  Status write_file(const Reader& reader, archive_entry* entry, const std::string& name,
                    const std::string& path) {
    TRY(count());
    const io::Path target = into_ / utf8_path(path);
    // Ownership, times and all bits but "executable" are the archive's claims, and not followed.
    const mode_t mode = (archive_entry_perm(entry) & 0111) != 0 ? 0755 : 0644;
    const io::Descriptor file(
        ::open(target.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
    if (!file.valid()) {
      if (errno == EEXIST || errno == ENOTDIR)
        return refused(name, "is in the way of another entry, or below a file");
      return io::system_error("write " + utf8_text(target), errno);
    }
    std::array<char, 64 << 10> piece;
    while (true) {
      const la_ssize_t got = archive_read_data(reader.get(), piece.data(), piece.size());
      if (got < 0) return damaged(reader);
      if (got == 0) break;
      bytes_left_ -= got;
      if (bytes_left_ < 0)
        return Error{ErrorKind::too_large, "the archive is refused: it unpacks to more than " +
                                               std::to_string(bytes_max_) + " bytes"};
      TRY(write_all(file, target, {piece.data(), static_cast<std::size_t>(got)}));
    }
    if (::fsync(file.get()) != 0) return io::system_error("write to disk " + utf8_text(target), errno);
    return {};
  }

  static Status write_all(const io::Descriptor& file, const io::Path& target, std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t put = ::write(file.get(), bytes.data(), bytes.size());
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) return io::system_error("write " + utf8_text(target), errno);
      bytes.remove_prefix(static_cast<std::size_t>(put));
    }
    return {};
  }

  Status sync_directories() {
    for (const auto& path : directories_) TRY(io::real_files().sync(into_ / utf8_path(path)));
    return io::real_files().sync(into_);
  }

  const io::Path into_;
  const std::int64_t bytes_max_;
  const int files_max_;
  std::int64_t bytes_left_;
  int files_ = 0;
  std::set<std::string> seen_;         // entries of the archive
  std::set<std::string> directories_;  // made, named by an entry or not
};

}  // namespace

Status unpack(std::string_view archive, const io::Path& into, std::int64_t bytes_max, int files_max) {
  if (::mkdir(into.c_str(), 0755) != 0) {
    if (errno == EEXIST)
      return Error{ErrorKind::conflict, "cannot unpack into " + utf8_text(into) + ": it is there already"};
    return io::system_error("create directory " + utf8_text(into), errno);
  }
  const Status done = Unpacking(into, bytes_max, files_max).run(archive);
  if (!done.ok()) {
    // The first error is the one to tell; what cannot be removed is found in the way next time.
    const Status removed = io::real_files().remove_all(into);
    if (!removed.ok())
      return Error{done.error().kind, done.error().message + "; and " + removed.error().message};
  }
  return done;
}

}  // namespace gleaner::archives
