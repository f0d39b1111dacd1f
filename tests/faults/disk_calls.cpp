// The C library's calls, as this program and its libraries find them: those that concern the disk's directory
// go through disk.h, all others to the system. No lock is taken for the others: a child between fork() and
// execve() comes through here, too.
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/faults/disk.h"

using namespace gleaner::faults;

namespace {

int open_any(const char* path, int flags, mode_t mode) {
  return disk::is_below(path) ? disk::open(path, flags, mode)
                              : static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  return open_any(path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  return open_any(path, flags, mode);
}

int close(int descriptor) {
  return disk::tracked(descriptor) ? disk::close(descriptor)
                                   : static_cast<int>(::syscall(SYS_close, descriptor));
}

ssize_t write(int descriptor, const void* bytes, size_t count) {
  return disk::tracked(descriptor) ? disk::write(descriptor, bytes, count, 0, false)
                                   : ::syscall(SYS_write, descriptor, bytes, count);
}

ssize_t pwrite(int descriptor, const void* bytes, size_t count, off_t offset) {
  return disk::tracked(descriptor) ? disk::write(descriptor, bytes, count, offset, true)
                                   : ::syscall(SYS_pwrite64, descriptor, bytes, count, offset);
}

ssize_t pwrite64(int descriptor, const void* bytes, size_t count, off_t offset) {
  return pwrite(descriptor, bytes, count, offset);
}

int ftruncate(int descriptor, off_t size) noexcept {
  return disk::tracked(descriptor) ? disk::truncate(descriptor, size)
                                   : static_cast<int>(::syscall(SYS_ftruncate, descriptor, size));
}

int ftruncate64(int descriptor, off_t size) noexcept {
  return ftruncate(descriptor, size);
}

int fsync(int descriptor) {
  return disk::tracked(descriptor) ? disk::sync(descriptor, false)
                                   : static_cast<int>(::syscall(SYS_fsync, descriptor));
}

int fdatasync(int descriptor) {
  return disk::tracked(descriptor) ? disk::sync(descriptor, true)
                                   : static_cast<int>(::syscall(SYS_fdatasync, descriptor));
}

int rename(const char* from, const char* to) noexcept {
  return disk::is_below(from) && disk::is_below(to) ? disk::rename(from, to)
                                                    : static_cast<int>(::syscall(SYS_rename, from, to));
}

int unlink(const char* path) noexcept {
  return disk::is_below(path) ? disk::unlink(path) : static_cast<int>(::syscall(SYS_unlink, path));
}

int remove(const char* path) noexcept {
  struct stat status {};
  if (::lstat(path, &status) == 0 && S_ISDIR(status.st_mode)) return ::rmdir(path);
  return ::unlink(path);
}

int link(const char* from, const char* to) noexcept {
  return disk::is_below(from) && disk::is_below(to) ? disk::link(from, to)
                                                    : static_cast<int>(::syscall(SYS_link, from, to));
}

int mkdir(const char* path, mode_t mode) noexcept {
  return disk::is_below(path) ? disk::make_directory(path, mode)
                              : static_cast<int>(::syscall(SYS_mkdir, path, mode));
}

int rmdir(const char* path) noexcept {
  return disk::is_below(path) ? disk::remove_directory(path) : static_cast<int>(::syscall(SYS_rmdir, path));
}

}  // extern "C"
