// Controls which kernels may use the processor, and how much of it: pauses, resumes and throttles them, each
// with all that it has started. Implemented in client/platform (cpu_limiter_linux.cpp). Called from the
// engine's thread.
#pragma once

#include <string>

#include "shared/io/files.h"
#include "shared/io/process_tree.h"

namespace gleaner::host {

struct KernelTree {
  io::TreeHandle tree;  // it and all that it starts
  int threads = 1;      // processors that they may use together
  io::Path control;     // the control group in which they are alone (Launcher::control_group); empty: none
};

class CpuGate {
 public:
  virtual ~CpuGate() = default;
  // A kernel was started; it may run.
  virtual void add(const KernelTree& kernel) = 0;
  // It is about to be killed, or gone: it is not touched any more.
  virtual void remove(io::TreeHandle tree) = 0;
  virtual void pause(io::TreeHandle tree) = 0;
  virtual void resume(io::TreeHandle tree) = 0;
  // CPU share of each processor, (0, 1]. A kernel gets no more than `threads` times that, altogether.
  virtual void set_share(double share) = 0;
  // Why the gate killed the kernel: it did not stand still. "used 0.6 s of processor time while it was
  // paused"; empty: it did not.
  [[nodiscard]] virtual std::string offence(io::TreeHandle) const { return {}; }
};

}  // namespace gleaner::host
