// Controls which kernels may use the processor, and how much of it: pauses, resumes and throttles them, each
// with all that it has started. Implemented in client/platform (cpu_limiter_linux.cpp). Called from the
// engine's thread.
#pragma once

#include <string>

#include "shared/io/files.h"

namespace gleaner::host {

struct KernelTree {
  int group = 0;     // the process that was started; its process group holds all that the kernel starts
  int threads = 1;   // processors that they may use together
  io::Path control;  // the control group in which they are alone (Launcher::control_group); empty: none
};

class CpuGate {
 public:
  virtual ~CpuGate() = default;
  // A kernel was started; it may run.
  virtual void add(const KernelTree& kernel) = 0;
  // It is about to be killed, or gone: no signal is sent to that group any more.
  virtual void remove(int group) = 0;
  virtual void pause(int group) = 0;
  virtual void resume(int group) = 0;
  // CPU share of each processor, (0, 1]. A kernel gets no more than `threads` times that, altogether.
  virtual void set_share(double share) = 0;
  // Why the gate killed the kernel: it did not stand still. "used 0.6 s of processor time while it was
  // paused"; empty: it did not.
  [[nodiscard]] virtual std::string offence(int) const { return {}; }
};

}  // namespace gleaner::host
