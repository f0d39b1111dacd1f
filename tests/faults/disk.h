// A disk that fails, fills up, and forgets at a power cut what was not synced. It stands between the program
// and the system: disk_calls.cpp defines open(), write(), fsync() and so on, which come before the C
// library's for this program and for the libraries that it loads, so that what is tried is what really runs:
// shared/io/files.cpp, SQLite's own file system layer and the order of their calls. Only files below one
// directory are concerned, and only what is done to them through the calls of disk_calls.cpp (SQLite's index
// of the log, which is mapped, means nothing after a power cut and is left out).
//
//   GLEANER_DISK=root=DIR,seed=N[,cut=K][,full=K:COUNT][,fail=K:COUNT]
//
// Every call that changes something, or makes it durable, is an event; events are counted from 1.
//   cut    the power fails at event K: before it, or, by the seed, after it
//   full   COUNT events from K on find the disk full; of a write half may arrive
//   fail   COUNT events from K on fail with EIO; what an fsync() that failed should have kept may be lost at
//   a later
//          cut, as the page cache of Linux has it
//
// The model: the bytes of a file are durable after fsync() or fdatasync() of that file, its name after an
// fsync() of its directory, and nothing else is. At a cut, by the seed, of what is not durable all, nothing,
// or any part is kept: writes one by one, the last of them torn; names of a directory in the order of their
// changes. Thread-safe.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <string>

namespace gleaner::faults {

void start_disk();  // before threads; reads the environment, a wrong text ends the program
[[noreturn]] void cut_power();

// For disk_calls.cpp. Each does the system's call, if it comes to that, and returns what that returns with
// errno set. `tracked`: cheap, for every descriptor.
namespace disk {
bool is_below(const char* path);  // or the directory itself, whose names are synced through it
bool tracked(int descriptor);
int open(const char* path, int flags, mode_t mode);
int close(int descriptor);
ssize_t write(int descriptor, const void* bytes, std::size_t count, off_t offset, bool at_offset);
int truncate(int descriptor, off_t size);
int sync(int descriptor, bool data_only);
int rename(const char* from, const char* to);
int unlink(const char* path);
int link(const char* from, const char* to);
int make_directory(const char* path, mode_t mode);
int remove_directory(const char* path);
}  // namespace disk

}  // namespace gleaner::faults
