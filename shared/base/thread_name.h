// What the system's tools call a thread: top, perf, /proc/PID/task/TID/comm. Platform file:
// thread_name_linux.cpp.
#pragma once

namespace gleaner {

// The calling thread's; at most 15 bytes of it are kept.
void name_this_thread(const char* name);

}  // namespace gleaner
