#include "tests/faults/disk.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace gleaner::faults {
namespace {

using Key = std::pair<dev_t, ino_t>;

// One write() or ftruncate().
struct Change {
  off_t offset = 0;
  std::string before, after;
  off_t size_before = 0, size_after = 0;
};

struct File {
  int own = -1;                  // a descriptor to read and mend it with
  bool has_locks = false;        // closing any descriptor of it would drop SQLite's
  std::vector<Change> lost;      // an fsync() of them failed
  std::vector<Change> unsynced;  // in their order
};

enum class Kind { create, rename, unlink, link, make_directory, remove_directory };

// A change of names. It is durable when no directory is left in `pending`.
struct NameChange {
  Kind kind;
  std::string from, to;
  std::string kept;  // another name of what it took away, for the way back
  std::set<Key> pending;
};

struct Open {
  Key key;
  std::string path;
  bool directory = false;
};

struct Span {
  std::int64_t begin = std::numeric_limits<std::int64_t>::max();
  std::int64_t count = 0;
  [[nodiscard]] bool has(std::int64_t event) const { return event >= begin && event - begin < count; }
};

enum class Fate { go, full, fail, cut_after };

// Never destroyed: the program's last calls come through here, too.
struct Disk {
  std::mutex mutex;
  std::string root, graves;
  std::mt19937_64 random;
  std::int64_t events = 0, graves_made = 0;
  Span full, fail;
  std::int64_t cut = 0;
  std::map<int, Open> opened;
  std::map<Key, File> files;
  std::vector<NameChange> names;
};

constexpr std::size_t descriptors_max = 1 << 16;
std::array<std::atomic<bool>, descriptors_max> tracked_descriptors;
Disk* disk_state = nullptr;                // set before threads start
alignas(8) thread_local bool raw = false;  // while the model itself uses the system

class Raw {
 public:
  Raw() { raw = true; }
  ~Raw() { raw = false; }
  Raw(const Raw&) = delete;
  Raw& operator=(const Raw&) = delete;
};

int refuse(int error_number) {
  errno = error_number;
  return -1;
}

Key key_of(const struct stat& status) {
  return {status.st_dev, status.st_ino};
}

Key directory_of(const std::string& path) {
  struct stat status {};
  ::stat(path.substr(0, path.rfind('/')).c_str(), &status);
  return key_of(status);
}

bool is_there(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0;
}

std::size_t below(Disk& disk, std::size_t bound) {
  return bound == 0 ? 0 : static_cast<std::size_t>(disk.random() % bound);
}

// ---- the cut

void revert(const File& file, const Change& change, bool size_too) {
  if (!change.before.empty()) ::pwrite(file.own, change.before.data(), change.before.size(), change.offset);
  if (change.after.size() > change.before.size()) {
    const std::string zeros(change.after.size() - change.before.size(), '\0');
    ::pwrite(file.own, zeros.data(), zeros.size(), change.offset + static_cast<off_t>(change.before.size()));
  }
  if (size_too) (void)::ftruncate(file.own, change.size_before);
}

void apply(const File& file, const Change& change, std::size_t bytes) {
  if (change.size_after < change.size_before)
    (void)::ftruncate(file.own, change.size_after);
  else
    ::pwrite(file.own, change.after.data(), std::min(bytes, change.after.size()), change.offset);
}

void forget_unsynced(Disk& disk, File& file) {
  if (file.own < 0) return;
  for (auto change = file.unsynced.rbegin(); change != file.unsynced.rend(); ++change)
    revert(file, *change, true);
  for (const Change& change : file.lost)
    if (below(disk, 2) == 0) revert(file, change, false);
  const std::size_t how = below(disk, 4);  // none, all, any, the first and a part of the next
  const std::size_t first = below(disk, file.unsynced.size() + 1);
  for (std::size_t i = 0; i < file.unsynced.size(); ++i) {
    const Change& change = file.unsynced[i];
    if (how == 1 || (how == 2 && below(disk, 2) == 0) || (how == 3 && i < first))
      apply(file, change, change.after.size());
    else if (how == 3 && i == first)
      apply(file, change, below(disk, change.after.size() + 1));
  }
}

void take_back(const NameChange& change) {
  std::error_code ignored;
  switch (change.kind) {
    case Kind::create:
      ::unlink(change.to.c_str());
      break;
    case Kind::link:
      ::unlink(change.to.c_str());
      break;
    case Kind::rename:
      ::rename(change.to.c_str(), change.from.c_str());
      if (!change.kept.empty()) ::rename(change.kept.c_str(), change.to.c_str());
      break;
    case Kind::unlink:
      ::rename(change.kept.c_str(), change.to.c_str());
      break;
    case Kind::make_directory:
      std::filesystem::remove_all(change.to, ignored);
      break;
    case Kind::remove_directory:
      ::mkdir(change.to.c_str(), 0755);
      break;
  }
}

// Of each directory's changes the later ones are lost.
std::size_t forget_names(Disk& disk) {
  std::map<Key, std::size_t> changes, kept, seen;
  for (const NameChange& change : disk.names)
    for (const Key& directory : change.pending) ++changes[directory];
  const std::size_t how = below(disk, 3);  // none, all, the first
  for (const auto& [directory, count] : changes)
    kept[directory] = how == 0 ? 0 : how == 1 ? count : below(disk, count + 1);
  std::vector<const NameChange*> gone;
  for (const NameChange& change : disk.names)
    for (const Key& directory : change.pending)
      if (seen[directory]++ >= kept[directory] && (gone.empty() || gone.back() != &change))
        gone.push_back(&change);
  for (auto change = gone.rbegin(); change != gone.rend(); ++change) take_back(**change);
  return gone.size();
}

[[noreturn]] void cut_now(Disk& disk) {
  const Raw here;
  std::size_t unsynced = 0;
  for (auto& [key, file] : disk.files) {
    unsynced += file.unsynced.size() + file.lost.size();
    forget_unsynced(disk, file);
  }
  const std::size_t names = disk.names.size(), gone = forget_names(disk);
  if (below(disk, 2) == 0) ::unlink((disk.root + "/store.sqlite-shm").c_str());
  std::error_code ignored;
  std::filesystem::remove_all(disk.graves, ignored);
  std::fprintf(stderr, "power cut at event %lld: %zu unsynced writes, %zu of %zu names taken back\n",
               static_cast<long long>(disk.events), unsynced, gone, names);
  ::kill(::getpid(), SIGKILL);
  while (true) ::pause();
}

// ---- events

Fate next_event(Disk& disk) {
  const std::int64_t event = ++disk.events;
  if (disk.cut == event && below(disk, 2) == 0) cut_now(disk);
  if (disk.cut == event) return Fate::cut_after;
  if (disk.fail.has(event)) return Fate::fail;
  return disk.full.has(event) ? Fate::full : Fate::go;
}

// With the call's answer and errno; after it, if the power fails there.
template <typename Answer>
Answer after_event(Disk& disk, Fate fate, Answer answer) {
  if (fate == Fate::cut_after) cut_now(disk);
  return answer;
}

std::string grave(Disk& disk, const char* path) {
  std::string kept = disk.graves + "/" + std::to_string(disk.graves_made++);
  const Raw here;
  return ::link(path, kept.c_str()) == 0 ? kept : std::string();
}

void drop_grave(const std::string& kept) {
  const Raw here;
  if (!kept.empty()) ::unlink(kept.c_str());
}

// The descriptor's file, ready to be changed; null: it cannot be followed.
File* file_of(Disk& disk, int descriptor) {
  const auto found = disk.opened.find(descriptor);
  if (found == disk.opened.end()) return nullptr;
  File& file = disk.files[found->second.key];
  if (file.own < 0) {
    const std::string self = "/proc/self/fd/" + std::to_string(descriptor);
    file.own = static_cast<int>(::syscall(SYS_openat, AT_FDCWD, self.c_str(), O_RDWR | O_CLOEXEC, 0));
    file.has_locks = found->second.path.find("store.sqlite") != std::string::npos;
  }
  return file.own < 0 ? nullptr : &file;
}

off_t size_of(const File& file) {
  struct stat status {};
  ::fstat(file.own, &status);
  return status.st_size;
}

std::string bytes_of(const File& file, off_t offset, std::size_t count) {
  std::string bytes(count, '\0');
  const ssize_t got = ::pread(file.own, bytes.data(), count, offset);
  bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return bytes;
}

bool overlap(const Change& one, const Change& other) {
  const auto end = [](const Change& change) {
    return change.offset + static_cast<off_t>(std::max(change.before.size(), change.after.size()));
  };
  return one.offset < end(other) && other.offset < end(one);
}

void settle(Disk& disk, const Key& key) {
  const auto found = disk.files.find(key);
  if (found == disk.files.end()) return;
  File& file = found->second;
  std::erase_if(file.lost, [&](const Change& change) {
    return std::any_of(file.unsynced.begin(), file.unsynced.end(),
                       [&](const Change& later) { return overlap(change, later); });
  });
  file.unsynced.clear();
  if (file.has_locks || !file.lost.empty()) return;
  ::syscall(SYS_close, file.own);
  disk.files.erase(found);
}

void settle_names(Disk& disk, const Key& directory) {
  for (NameChange& change : disk.names) {
    change.pending.erase(directory);
    if (change.pending.empty()) drop_grave(change.kept);
  }
  std::erase_if(disk.names, [](const NameChange& change) { return change.pending.empty(); });
}

// ---- the environment

[[noreturn]] void wrong(std::string_view text) {
  std::fprintf(stderr,
               "GLEANER_DISK: \"%.*s\" is none of root=DIR, seed=N, cut=K, full=K:COUNT, fail=K:COUNT\n",
               static_cast<int>(text.size()), text.data());
  ::_exit(2);
}

std::int64_t number(std::string_view text, std::string_view whole) {
  std::int64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size()) wrong(whole);
  return value;
}

void take_word(Disk& disk, std::string_view word) {
  const auto equals = std::min(word.find('='), word.size());
  const std::string_view name = word.substr(0, equals),
                         value = word.substr(std::min(equals + 1, word.size()));
  const auto span = [&] {
    const auto colon = value.find(':');
    if (colon == std::string_view::npos) wrong(word);
    return Span{number(value.substr(0, colon), word), number(value.substr(colon + 1), word)};
  };
  if (name == "root")
    disk.root = value;
  else if (name == "seed")
    disk.random.seed(static_cast<std::uint64_t>(number(value, word)));
  else if (name == "cut")
    disk.cut = number(value, word);
  else if (name == "full")
    disk.full = span();
  else if (name == "fail")
    disk.fail = span();
  else
    wrong(word);
}

}  // namespace

void start_disk() {
  const char* const given = std::getenv("GLEANER_DISK");
  if (given == nullptr) return;
  auto* const disk = new Disk;  // NOLINT(cppcoreguidelines-owning-memory): as long as the program
  std::string_view text = given;
  while (!text.empty()) {
    const auto comma = std::min(text.find(','), text.size());
    take_word(*disk, text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  if (disk->root.empty() || disk->root.front() != '/') wrong(given);
  disk->graves = disk->root + ".graves";
  std::error_code ignored;
  std::filesystem::remove_all(disk->graves, ignored);
  std::filesystem::create_directories(disk->graves, ignored);
  disk_state = disk;
}

void cut_power() {
  if (disk_state != nullptr) {
    const std::lock_guard lock(disk_state->mutex);
    cut_now(*disk_state);
  }
  ::kill(::getpid(), SIGKILL);
  while (true) ::pause();
}

namespace disk {

bool is_below(const char* path) {
  if (disk_state == nullptr || raw || path == nullptr) return false;
  const std::string_view text = path;
  const std::string& root = disk_state->root;
  return text.starts_with(root) && (text.size() == root.size() || text[root.size()] == '/') &&
         !text.ends_with("-shm");
}

bool tracked(int descriptor) {
  return descriptor >= 0 && static_cast<std::size_t>(descriptor) < descriptors_max && !raw &&
         tracked_descriptors[static_cast<std::size_t>(descriptor)].load(std::memory_order_relaxed);
}

int open(const char* path, int flags, mode_t mode) {
  Disk& disk = *disk_state;
  const std::lock_guard lock(disk.mutex);
  const bool creates = (flags & O_CREAT) != 0 && !is_there(path);
  Fate fate = Fate::go;
  if (creates) {
    fate = next_event(disk);
    if (fate == Fate::full) return refuse(ENOSPC);
    if (fate == Fate::fail) return refuse(EIO);
  }
  const bool cuts = (flags & O_TRUNC) != 0;  // as a change of its own, so that it can be taken back
  const int descriptor = static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags & ~O_TRUNC, mode));
  if (descriptor < 0) return descriptor;
  struct stat status {};
  ::fstat(descriptor, &status);
  if (creates) {
    if (const auto stale = disk.files.find(key_of(status)); stale != disk.files.end()) {
      ::syscall(SYS_close, stale->second.own);
      disk.files.erase(stale);
    }
    disk.names.push_back({Kind::create, "", path, "", {directory_of(path)}});
  }
  if (static_cast<std::size_t>(descriptor) < descriptors_max) {
    disk.opened[descriptor] = {key_of(status), path, S_ISDIR(status.st_mode)};
    tracked_descriptors[static_cast<std::size_t>(descriptor)] = true;
  }
  if (cuts && status.st_size > 0) {
    if (File* const file = file_of(disk, descriptor))
      file->unsynced.push_back(
          {0, bytes_of(*file, 0, static_cast<std::size_t>(status.st_size)), "", status.st_size, 0});
    (void)::syscall(SYS_ftruncate, descriptor, 0);
  }
  return after_event(disk, fate, descriptor);
}

int close(int descriptor) {
  Disk& disk = *disk_state;
  const std::lock_guard lock(disk.mutex);
  disk.opened.erase(descriptor);
  tracked_descriptors[static_cast<std::size_t>(descriptor)] = false;
  return static_cast<int>(::syscall(SYS_close, descriptor));
}

ssize_t write(int descriptor, const void* bytes, std::size_t count, off_t offset, bool at_offset) {
  Disk& disk = *disk_state;
  const std::lock_guard lock(disk.mutex);
  const Fate fate = next_event(disk);
  if (fate == Fate::fail) return refuse(EIO);
  if (fate == Fate::full) {
    if (count < 2 || below(disk, 2) == 0) return refuse(ENOSPC);
    count /= 2;
  }
  File* const file = file_of(disk, descriptor);
  if (!at_offset)
    offset = (::fcntl(descriptor, F_GETFL) & O_APPEND) != 0 && file != nullptr
                 ? size_of(*file)
                 : ::lseek(descriptor, 0, SEEK_CUR);
  Change change;
  if (file != nullptr) {
    const off_t size = size_of(*file);
    change = {offset, bytes_of(*file, offset, count), std::string(static_cast<const char*>(bytes), count),
              size, std::max(size, offset + static_cast<off_t>(count))};
  }
  const ssize_t put = at_offset ? ::syscall(SYS_pwrite64, descriptor, bytes, count, offset)
                                : ::syscall(SYS_write, descriptor, bytes, count);
  if (put > 0 && file != nullptr) file->unsynced.push_back(std::move(change));
  return after_event(disk, fate, put);
}

int truncate(int descriptor, off_t size) {
  Disk& disk = *disk_state;
  const std::lock_guard lock(disk.mutex);
  const Fate fate = next_event(disk);
  if (fate == Fate::fail) return refuse(EIO);
  if (File* const file = file_of(disk, descriptor)) {
    const off_t before = size_of(*file);
    Change change{size, "", "", before, size};
    if (size < before)
      change.before = bytes_of(*file, size, static_cast<std::size_t>(before - size));
    else
      change = {before, "", std::string(static_cast<std::size_t>(size - before), '\0'), before, size};
    file->unsynced.push_back(std::move(change));
  }
  return after_event(disk, fate, static_cast<int>(::syscall(SYS_ftruncate, descriptor, size)));
}

// The system's own sync is left out: what it would protect from does not happen here.
int sync(int descriptor, bool /*data_only*/) {
  Disk& disk = *disk_state;
  const std::lock_guard lock(disk.mutex);
  const Fate fate = next_event(disk);
  const auto found = disk.opened.find(descriptor);
  if (found == disk.opened.end()) return 0;
  const Open& open = found->second;
  if (fate == Fate::fail) {
    if (const auto file = disk.files.find(open.key); file != disk.files.end() && below(disk, 2) == 0) {
      auto& unsynced = file->second.unsynced;
      file->second.lost.insert(file->second.lost.end(), unsynced.begin(), unsynced.end());
      unsynced.clear();
    }
    return refuse(EIO);
  }
  if (open.directory)
    settle_names(disk, open.key);
  else
    settle(disk, open.key);
  return after_event(disk, fate, 0);
}

int rename(const char* from, const char* to) {
  Disk& disk = *disk_state;
  const std::lock_guard lock(disk.mutex);
  const Fate fate = next_event(disk);
  if (fate == Fate::full) return refuse(ENOSPC);
  if (fate == Fate::fail) return refuse(EIO);
  const std::string kept = is_there(to) ? grave(disk, to) : std::string();
  const int done = static_cast<int>(::syscall(SYS_rename, from, to));
  if (done == 0)
    disk.names.push_back({Kind::rename, from, to, kept, {directory_of(from), directory_of(to)}});
  else
    drop_grave(kept);
  return after_event(disk, fate, done);
}

int unlink(const char* path) {
  Disk& disk = *disk_state;
  const std::lock_guard lock(disk.mutex);
  if (!is_there(path)) return refuse(ENOENT);
  const Fate fate = next_event(disk);
  if (fate == Fate::fail) return refuse(EIO);
  const std::string kept = grave(disk, path);
  const int done = static_cast<int>(::syscall(SYS_unlink, path));
  if (done == 0)
    disk.names.push_back({Kind::unlink, "", path, kept, {directory_of(path)}});
  else
    drop_grave(kept);
  return after_event(disk, fate, done);
}

int link(const char* from, const char* to) {
  Disk& disk = *disk_state;
  const std::lock_guard lock(disk.mutex);
  const Fate fate = next_event(disk);
  if (fate == Fate::full) return refuse(ENOSPC);
  if (fate == Fate::fail) return refuse(EIO);
  const int done = static_cast<int>(::syscall(SYS_link, from, to));
  if (done == 0) disk.names.push_back({Kind::link, from, to, "", {directory_of(to)}});
  return after_event(disk, fate, done);
}

int make_directory(const char* path, mode_t mode) {
  Disk& disk = *disk_state;
  const std::lock_guard lock(disk.mutex);
  if (is_there(path)) return refuse(EEXIST);
  const Fate fate = next_event(disk);
  if (fate == Fate::full) return refuse(ENOSPC);
  if (fate == Fate::fail) return refuse(EIO);
  const int done = static_cast<int>(::syscall(SYS_mkdir, path, mode));
  if (done == 0) disk.names.push_back({Kind::make_directory, "", path, "", {directory_of(path)}});
  return after_event(disk, fate, done);
}

int remove_directory(const char* path) {
  Disk& disk = *disk_state;
  const std::lock_guard lock(disk.mutex);
  const Fate fate = next_event(disk);
  if (fate == Fate::fail) return refuse(EIO);
  const int done = static_cast<int>(::syscall(SYS_rmdir, path));
  if (done == 0) disk.names.push_back({Kind::remove_directory, "", path, "", {directory_of(path)}});
  return after_event(disk, fate, done);
}

}  // namespace disk

}  // namespace gleaner::faults
