// The command line of gleaner-sandbox. It is written by client/platform/sandbox_linux.cpp only, and
// documented here for both:
//
//   gleaner-sandbox enter [--cgroup DIRECTORY]... -- PROGRAM ARGUMENT...
//       outside: joins the control groups, offers itself first to the system's out-of-memory killer, and
//       becomes PROGRAM (bubblewrap, or gleaner-sandbox confine).
//   gleaner-sandbox confine [--user ID] [--processes N] [--read PATH]... [--device PATH]... [--write PATH]...
//                           -- PROGRAM ARGUMENT...
//       inside: drops to user and group ID, starts PROGRAM under Landlock (read and execute, read and write,
//       everything but execute), resource limits and the system-call filter, and stays as its supervisor. Its
//       exit status is PROGRAM's, or 128 + the signal's number; what it has to say goes to standard error.
//   gleaner-sandbox check FORBIDDEN...
//       as PROGRAM of the above: tries what must not be possible; fails if any of it is.
#pragma once

#include <string>
#include <vector>

namespace gleaner::sandbox {

inline constexpr int exit_usage = 2;
inline constexpr int exit_cannot_confine = 125;

struct Options {
  std::string command;
  std::vector<std::string> cgroups;
  long user = -1;
  long processes = 0;  // 0: no limit
  std::vector<std::string> read;
  std::vector<std::string> devices;
  std::vector<std::string> write;
  std::vector<char*> program;  // ends in a null pointer; points into argv
  std::string mistake;         // if it could not be understood
};

[[nodiscard]] Options parse(int argc, char** argv);

// Prints "gleaner-sandbox: WHAT: the reason in errno" and ends the process.
[[noreturn]] void give_up(const char* what);
void say(const std::string& sentence);

}  // namespace gleaner::sandbox
