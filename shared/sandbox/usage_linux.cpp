#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string_view>

#include "shared/sandbox/runtime_files.h"
#include "shared/sandbox/usage.h"

namespace gleaner::sandbox {
namespace {

constexpr std::size_t depth_max = 64;          // a descriptor each
constexpr std::size_t mappings_max = 100'000;  // the system allows a process 65,530

class Directory {
 public:
  Directory(int parent, const char* name) {
    const int opened = ::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (opened < 0) return;
    listing_ = ::fdopendir(opened);
    if (listing_ == nullptr) ::close(opened);
  }
  ~Directory() {
    if (listing_ != nullptr) ::closedir(listing_);
  }
  Directory(Directory&& other) noexcept : listing_(std::exchange(other.listing_, nullptr)) {}
  Directory& operator=(Directory&&) = delete;

  [[nodiscard]] bool valid() const { return listing_ != nullptr; }
  [[nodiscard]] int descriptor() const { return ::dirfd(listing_); }
  [[nodiscard]] const char* next() const {
    while (const dirent* entry = ::readdir(listing_))
      if (const std::string_view name = entry->d_name; name != "." && name != "..") return entry->d_name;
    return nullptr;
  }

 private:
  DIR* listing_ = nullptr;
};

// A file with several names counts once: a part for each.
std::int64_t bytes_of(const struct stat& facts) {
  constexpr std::int64_t block = 512;  // of st_blocks, whatever the file system's is
  const auto names =
      S_ISDIR(facts.st_mode) ? 1 : std::max<std::int64_t>(1, static_cast<std::int64_t>(facts.st_nlink));
  return block * static_cast<std::int64_t>(facts.st_blocks) / names;
}

struct Seen {
  std::set<ino_t> pipes;
  std::set<ino_t> removed;  // files of the one device
  std::int64_t removed_bytes = 0;
};

void look_at_descriptors(const io::Path& task, dev_t device, Seen& seen) {
  const Directory all(AT_FDCWD, (task / "fd").c_str());
  if (!all.valid()) return;  // it ended
  while (const char* const name = all.next()) {
    struct stat facts {};
    if (::fstatat(all.descriptor(), name, &facts, 0) != 0) continue;
    if (S_ISFIFO(facts.st_mode)) seen.pipes.insert(facts.st_ino);
    if (S_ISREG(facts.st_mode) && facts.st_nlink == 0 && facts.st_dev == device &&
        seen.removed.insert(facts.st_ino).second)
      seen.removed_bytes += bytes_of(facts);
  }
}

// Programs and libraries that an upgrade has replaced while they ran. Nobody confined can make a file there:
// the system tells paths of a sandbox with a file system of its own by that file system's root, and those of
// others by the machine's.
bool is_of_the_system(std::string_view path, const io::Path& directory) {
  if (path.starts_with(directory.string())) return false;
  if (path == inner_helper + std::string(" (deleted)")) return true;
  constexpr std::string_view beginnings[] = {"/usr/", "/lib/", "/lib32/", "/lib64/"};
  return std::ranges::any_of(beginnings, [&](std::string_view one) { return path.starts_with(one); });
}

// "ADDRESSES RIGHTS OFFSET MAJOR:MINOR INODE PATH (deleted)".
bool maps_unseen(const io::Path& process, dev_t device, const io::Path& directory, const Seen& seen) {
  constexpr std::string_view mark = " (deleted)";
  std::ifstream maps(process / "maps");
  std::size_t count = 0;
  for (std::string line; count < mappings_max && std::getline(maps, line); ++count) {
    if (!line.ends_with(mark)) continue;
    std::istringstream words(line);
    std::string addresses, rights, offset;
    unsigned major = 0, minor = 0;
    char colon = 0;
    ino_t inode = 0;
    words >> addresses >> rights >> offset >> std::hex >> major >> colon >> minor >> std::dec >> inode;
    if (!words || makedev(major, minor) != device || seen.removed.contains(inode)) continue;
    std::string path;
    std::getline(words >> std::ws, path);
    if (!is_of_the_system(path, directory)) return true;
  }
  return false;
}

}  // namespace

DirectoryUsage directory_usage(const io::Path& directory, std::int64_t files_max) {
  DirectoryUsage usage;
  std::vector<Directory> path;
  path.emplace_back(AT_FDCWD, directory.c_str());
  if (!path.back().valid()) {
    usage.hidden = errno == EACCES;
    return usage;
  }
  while (!path.empty() && usage.files < files_max) {
    const int here = path.back().descriptor();
    const char* const name = path.back().next();
    if (name == nullptr) {
      path.pop_back();
      continue;
    }
    struct stat facts {};
    if (::fstatat(here, name, &facts, AT_SYMLINK_NOFOLLOW) != 0) {
      usage.hidden = usage.hidden || errno == EACCES;  // else it was removed a moment ago
      continue;
    }
    ++usage.files;
    usage.bytes += bytes_of(facts);
    if (!S_ISDIR(facts.st_mode)) continue;
    Directory inner(here, name);
    usage.hidden = usage.hidden || (!inner.valid() && errno == EACCES) || path.size() == depth_max;
    if (inner.valid() && path.size() < depth_max) path.push_back(std::move(inner));
  }
  return usage;
}

DescriptorUse descriptor_use(const std::vector<int>& processes, const io::Path& proc,
                             const io::Path& directory) {
  struct stat facts {};
  const dev_t device = ::stat(directory.c_str(), &facts) == 0 ? facts.st_dev : 0;
  std::error_code failed;  // it is gone: nothing is on no device
  const io::Path real = std::filesystem::canonical(directory, failed);
  Seen seen;
  for (const int process : processes) {
    const io::Path tasks = proc / std::to_string(process) / "task";
    const Directory all(AT_FDCWD, tasks.c_str());
    if (!all.valid()) continue;
    while (const char* const task = all.next()) look_at_descriptors(tasks / task, device, seen);
  }
  DescriptorUse use;
  for (const int process : processes)
    use.removed_mappings =
        use.removed_mappings || maps_unseen(proc / std::to_string(process), device, real, seen);
  use.removed_bytes = seen.removed_bytes;
  use.pipes = static_cast<int>(seen.pipes.size());
  return use;
}

}  // namespace gleaner::sandbox
