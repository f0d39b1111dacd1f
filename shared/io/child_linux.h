// The parent's view of a started child, and what process_linux.cpp hands over to it. Private to this module.
#pragma once

#include <memory>

#include "shared/io/descriptor.h"
#include "shared/io/process.h"

namespace gleaner::io {

// The parent's ends of the child's pipes; non-blocking.
enum class ExitCodes { own, relayed };  // see ProcessSpec::relays_exit

struct ChildPipes {
  Descriptor input;
  Descriptor output;
  Descriptor error;
};

// `pid` leads its own process group and is not reaped yet.
[[nodiscard]] std::unique_ptr<Process> adopt_child(int pid, ChildPipes pipes, ExitCodes codes);

}  // namespace gleaner::io
