// The command line of gleaner-sandbox. It is written by shared/sandbox/confinement_linux.cpp only, and
// documented here for both:
//
//   gleaner-sandbox enter [--cgroup DIRECTORY]... -- PROGRAM ARGUMENT...
//       outside: joins the control groups, offers itself first to the system's out-of-memory killer, and
//       becomes PROGRAM (bubblewrap, or gleaner-sandbox confine).
//   gleaner-sandbox confine [--user ID] [--processes N] [--scratch BYTES] [--counted yes] [--read PATH]...
//                           [--device PATH]... [--write PATH]... -- PROGRAM ARGUMENT...
//       inside: makes the first PATH to write to a file system in memory of BYTES (the file `checkpoint` that
//       was there is in it), drops to user and group ID, starts PROGRAM under Landlock (read and execute,
//       read and write, everything but execute), resource limits and the system-call filter, and stays as its
//       supervisor. `--counted`: a control group counts its memory. Its exit status is PROGRAM's, or 128 +
//       the signal's number; what it has to say goes to standard error.
//   gleaner-sandbox check FORBIDDEN...
//       as PROGRAM of the above: tries what must not be possible; fails if any of it is. Leaves a file for
//       the client to find, says "ready" and waits for the end of its standard input.
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
  long scratch = 0;    // bytes; 0: none
  bool counted = false;
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
