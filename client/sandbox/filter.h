// The system calls that a kernel may make (seccomp, by libseccomp). Three kinds: what computing needs is
// allowed; what only an attack needs is told to the supervisor, which ends the kernel and names the call;
// everything else fails with EPERM (clone3 with ENOSYS, so that the C library falls back to clone, whose
// flags can be seen).
#pragma once

#include <string>

namespace gleaner::sandbox {

enum class Signals {
  anyone,    // Landlock or a process-id namespace bounds whom a signal reaches
  self_only  // neither does: to the process itself only
};

// Filters the calling process from now on. Returns the descriptor on which offences are told, or -1 if this
// system cannot tell: an offence then kills by SIGSYS. Ends the process if nothing can be filtered.
[[nodiscard]] int enter_filter(Signals signals);

// The name of call number `number` of architecture `architecture`, as notifications carry them.
[[nodiscard]] std::string name_of_call(unsigned architecture, int number);

}  // namespace gleaner::sandbox
