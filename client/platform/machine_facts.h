// Machine (client/host/machine.h) by the files that the system shows, below injectable roots so that tests
// can make any machine. Platform file: machine_facts_linux.cpp.
#pragma once

#include <memory>

#include "client/host/machine.h"

namespace gleaner::platform {

struct SystemRoots {
  io::Path proc = "/proc";
  io::Path etc = "/etc";
  io::Path cgroup = "/sys/fs/cgroup";
};

[[nodiscard]] std::unique_ptr<host::Machine> make_machine(SystemRoots roots = {});

}  // namespace gleaner::platform
