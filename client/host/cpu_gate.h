// Controls which kernels may use the CPU: pauses, resumes and throttles them by process group. Implemented
// in client/platform (cpu_limiter_linux.cpp). Called from the engine's thread.
#pragma once

namespace gleaner::host {

class CpuGate {
 public:
  virtual ~CpuGate() = default;
  // A kernel was started as the leader of process group `group`; it may run. `threads`: cores it may use.
  virtual void add(int group, int threads) = 0;
  // It is about to be killed, or gone: no signal is sent to that group any more.
  virtual void remove(int group) = 0;
  virtual void pause(int group) = 0;
  virtual void resume(int group) = 0;
  // CPU share of each core, (0, 1]. Below 1 a thread slices; at 1 nothing wakes up.
  virtual void set_share(double share) = 0;
};

}  // namespace gleaner::host
