// What it may take. Each stops by itself at a multiple of what is allowed.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iostream>
#include <vector>

#include "client/attack/attacks.h"

namespace gleaner::attack {
namespace {

constexpr long megabyte = 1 << 20;
constexpr long disk_taken_max = 256 * megabyte;  // where nothing stops it
constexpr long memory_taken_max = 768 * megabyte;
constexpr unsigned patience = 8;  // seconds for those who measure from outside

std::vector<char> piece() {
  return std::vector<char>(megabyte, 'x');
}

// Appends until the system refuses; how many bytes.
long fill(int file, long bytes_max) {
  static const std::vector<char> bytes = piece();
  long all = 0;
  while (all < bytes_max) {
    const ssize_t put = ::write(file, bytes.data(), bytes.size());
    if (put <= 0) break;
    all += put;
  }
  return all;
}

// Holds what it took, for those who look once a second.
std::string hold(long bytes, long allowed, const std::string& what) {
  if (bytes > allowed) ::sleep(patience);
  return taken(bytes, allowed, what);
}

std::string fill_one_file(const Target& target) {
  const int file = ::open("file", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  return hold(fill(file, disk_taken_max), target.disk_bytes, "in a file");
}

std::string fill_many_files(const Target& target) {
  long all = 0;
  for (int number = 0; number < 60 && all < disk_taken_max; ++number) {
    const int file = ::open(std::to_string(number).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) break;
    all += fill(file, 3 * megabyte);
    ::close(file);
  }
  return hold(all, target.disk_bytes, "in many files");
}

std::string fill_removed_files(const Target& target) {
  long all = 0;
  for (int number = 0; number < 60 && all < disk_taken_max; ++number) {
    const int file = ::open("removed", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0) break;
    ::unlink("removed");
    all += fill(file, 3 * megabyte);
  }
  return hold(all, target.disk_bytes, "in files that it removed");
}

std::string map_removed_files(const Target& target) {
  long all = 0;
  for (int number = 0; number < 200 && all < disk_taken_max; ++number) {
    const int file = ::open("mapped", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0) break;
    ::unlink("mapped");
    all += fill(file, 3 * megabyte);
    if (::mmap(nullptr, 1, PROT_READ, MAP_SHARED, file, 0) == MAP_FAILED) break;
    ::close(file);
  }
  return hold(all, target.disk_bytes, "in files that it removed, closed and maps");
}

std::string hide_files(const Target& target) {
  long all = 0;
  (void)::mkdir("hidden", 0300);  // what is in it can be used, and not listed
  for (int number = 0; number < 60 && all < disk_taken_max; ++number) {
    const int file =
        ::open(("hidden/" + std::to_string(number)).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) break;
    all += fill(file, 3 * megabyte);
    ::close(file);
  }
  return hold(all, target.disk_bytes, "below a directory without permissions");
}

std::string litter(const Target&) {
  constexpr long files_max = 10'000;
  long files = 0;
  for (; files < 3 * files_max; ++files) {
    const int file = ::open(std::to_string(files).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) break;
    ::close(file);
  }
  if (files > files_max) ::sleep(patience);
  return (files <= files_max ? "held: " : "open: ") + std::to_string(files) + " empty files";
}

std::string nest(const Target&) {
  constexpr long depth_max = 3'000;
  long depth = 0;
  while (depth < depth_max && ::mkdir("d", 0700) == 0 && ::chdir("d") == 0) ++depth;
  ::sleep(patience);
  return "held: " + std::to_string(depth) + " levels, within the number of files that is allowed";
}

std::string take_memory(const Target& target) {
  std::vector<std::vector<char>> all;
  long bytes = 0;
  try {
    for (; bytes < memory_taken_max; bytes += 16 * megabyte) all.emplace_back(16 * megabyte, 'x');
  } catch (const std::bad_alloc&) {
  }
  return hold(bytes, target.memory_bytes, "of memory");
}

// Several processes, each below its own limit.
std::string take_memory_together(const Target& target) {
  const long each = target.memory_bytes / 2;
  int started = 0;
  for (; started < memory_taken_max / each; ++started) {
    const pid_t child = ::fork();
    if (child < 0) break;
    if (child != 0) continue;
    const std::vector<char> bytes(static_cast<std::size_t>(each), 'x');
    ::sleep(2 * patience);
    ::_exit(bytes[0] == 'x' ? 0 : 1);
  }
  return hold(started * each, target.memory_bytes, "of memory in many processes");
}

// Held by the system in nobody's name once no page is mapped.
std::string take_shared_memory(const Target& target) {
  const long each = target.memory_bytes / 4;
  long bytes = 0;
  while (bytes < memory_taken_max) {
    void* const all = ::mmap(nullptr, static_cast<std::size_t>(each), PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) break;
    ::memset(all, 'x', static_cast<std::size_t>(each));
    ::munmap(static_cast<char*>(all) + 4096, static_cast<std::size_t>(each - 4096));
    bytes += each;
  }
  return hold(bytes, target.memory_bytes, "of shared memory that is mapped nowhere");
}

std::string take_socket_buffers(const Target&) {
  constexpr long allowed = 4 * megabyte;
  long bytes = 0;
  int pair[2];
  while (bytes < memory_taken_max && ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) == 0)
    bytes += fill(pair[0], megabyte);
  return hold(bytes, allowed, "in sockets' buffers");
}

std::string take_pipes(const Target&) {
  constexpr long allowed = 4 * megabyte;
  long bytes = 0;
  int ends[2];
  for (int process = 0; process < 16; ++process) {
    while (::pipe2(ends, O_NONBLOCK) == 0) {
      (void)::fcntl(ends[1], F_SETPIPE_SZ, megabyte);
      bytes += fill(ends[1], megabyte);
    }
    const pid_t child = ::fork();
    if (child < 0) break;
    if (child > 0) {  // the child goes on, with as many descriptors again
      ::sleep(2 * patience);
      ::_exit(0);
    }
    for (int descriptor = 3; descriptor < 1024; ++descriptor) ::close(descriptor);
  }
  return hold(bytes, allowed, "in pipes");
}

std::string take_locks(const Target&) {
  constexpr long locks_max = 2'000;  // each takes the system some 200 bytes, and longer than the one before
  const int file = ::open("locks", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  long locks = 0;
  for (; locks < locks_max; ++locks) {
    struct flock one {};
    one.l_type = F_WRLCK;
    one.l_start = 2 * locks;
    one.l_len = 1;
    if (::fcntl(file, F_SETLK, &one) != 0) break;
  }
  // Where a control group counts them they are the kernel's own memory.
  return "held: " + std::to_string(locks) + " locks";
}

std::string fork_bomb(const Target&) {
  int started = 0;
  for (; started < 400; ++started) {
    const pid_t child = ::fork();
    if (child < 0) break;
    if (child == 0) {
      ::sleep(2 * patience);
      ::_exit(0);
    }
  }
  constexpr int allowed = 40;
  if (started > allowed) ::sleep(patience);
  return (started <= allowed ? "held: " : "open: ") + std::to_string(started) + " processes";
}

std::string open_descriptors(const Target&) {
  int count = 0;
  while (count < 2000 && ::open("/dev/null", O_RDONLY) >= 0) ++count;
  return (count <= 256 ? "held: " : "open: ") + std::to_string(count) + " descriptors";
}

std::string talk(std::ostream& out, const std::string& line) {
  const std::string text = line + std::string(1000, 'x') + "\n";
  for (long bytes = 0; bytes < 512 * megabyte && out; bytes += static_cast<long>(text.size())) out << text;
  out << std::flush;
  return "open: it could talk on and on";
}

std::string talk_in_log(const Target&) {
  return talk(std::cout, "log ");
}
std::string talk_on_error(const Target&) {
  return talk(std::cerr, "");
}

}  // namespace

std::vector<Attack> attacks_by_greed() {
  return {{"fill the disk with one file", true, fill_one_file},
          {"fill the disk with many files", true, fill_many_files},
          {"fill the disk with files that have no name", true, fill_removed_files},
          {"fill the disk with mapped files that have no name", true, map_removed_files},
          {"fill the disk below a closed directory", true, hide_files},
          {"make ten thousands of files", true, litter},
          {"nest directories 3,000 deep", true, nest},
          {"take memory", true, take_memory},
          {"take memory in many processes", true, take_memory_together},
          {"take shared memory that nobody maps", true, take_shared_memory},
          {"take memory by sockets", true, take_socket_buffers},
          {"take memory by pipes", true, take_pipes},
          {"take memory by locks", true, take_locks},
          {"fork", true, fork_bomb},
          {"open descriptors", false, open_descriptors},
          {"write a log for ever", true, talk_in_log},
          {"write to standard error for ever", true, talk_on_error}};
}

}  // namespace gleaner::attack
