// The system calls that a kernel may make (seccomp, by libseccomp). Three kinds: what computing needs is
// allowed; what only an attack needs is told to the supervisor, which ends the kernel and names the call;
// everything else fails with EPERM (clone3 with ENOSYS, so that the C library falls back to clone, whose
// flags can be seen; timer_create likewise).
//
// The caller pauses a program by SIGSTOP. Nothing that the filter allows sends SIGCONT, which would undo
// that: no call that sends signals, no timer, and no process's end (its signal to its parent, its children's
// PR_SET_PDEATHSIG). A process group whose leader is the caller's child gets none from the system while the
// caller lives.
#pragma once

#include <string>

namespace gleaner::sandbox {

// What else bounds the process: where nothing does, the filter allows less.
struct Surroundings {
  bool signals_bounded = false;   // Landlock or a process-id namespace bounds whom a signal reaches
  bool files_of_its_own = false;  // no file of others is in sight: not where Landlock stands alone, which
                                  // knows neither chmod nor time stamps nor extended attributes
  bool memory_counted = false;    // a control group counts all memory, also what the system holds for it
};

// Filters the calling process from now on. Returns the descriptor on which offences are told, or -1 if this
// system cannot tell: an offence then kills by SIGSYS. Ends the process if nothing can be filtered.
[[nodiscard]] int enter_filter(const Surroundings& surroundings);

// The name of call number `number` of architecture `architecture`, as notifications carry them.
[[nodiscard]] std::string name_of_call(unsigned architecture, int number);

}  // namespace gleaner::sandbox
