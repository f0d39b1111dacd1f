// The daemon as a process of its system: requests to end, the service manager, memory that goes back. All
// functions from the main thread. Platform file: daemon_process_linux.cpp.
#pragma once

#include "shared/io/files.h"
#include "shared/io/waiting.h"

namespace gleaner::platform {

// Requests of the system or of a person to end: SIGTERM, SIGINT and SIGHUP; the service manager's stop. Make
// one before any thread starts, so that no thread takes them; connections that break do not end the process
// from then on.
class StopRequests {
 public:
  StopRequests();
  ~StopRequests();
  StopRequests(const StopRequests&) = delete;
  StopRequests& operator=(const StopRequests&) = delete;

  // Ready when there is a request that arrived() has not told.
  [[nodiscard]] io::Waitable waitable() const { return waitable_; }
  // Has one come since the last call?
  [[nodiscard]] bool arrived() const;

 private:
  io::Waitable waitable_;
};

// To the service manager that started this process, if one did.
void tell_ready();
void tell_stopping();

// A light daemon: no arena for each thread, and what was large for a moment (a bundle, a benchmark, a
// segment) goes back to the system when it is freed. Call once, first.
void keep_memory_small();
// Gives back what is free by now.
void return_memory();

// Where kernels run as users of their own, they can read what this process unpacks.
void let_kernels_read();

// Where the service manager made a place that everybody's agents find; empty: nowhere.
[[nodiscard]] io::Path runtime_directory();

// Ends the process without destructors, which would wait for threads that are stuck.
[[noreturn]] void end_at_once(int status);

}  // namespace gleaner::platform
