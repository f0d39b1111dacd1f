// The CpuGate. KernelControl holds a pause. Where the system does not enforce that hold, this looks again and
// again: it stops a process that runs nevertheless, and kills one that keeps running
// (shared/io/standstill.h). A kernel that may use less than all processors is counted with all that it has
// started and sliced as soon as it uses more, by the closed-loop controller of client/policy/cpu_share.h.
// Sliced kernels take turns (cpu_turns.h): two that may use half of a core each run at the same moment for a
// tenth of the time, without turns for a third (4 to 13 %, and 26 to 47).
//
// All of that is done on a thread of its own, which sleeps while there is nothing to look at: no kernel, or
// only kernels that are frozen or may use every processor. A kernel that keeps to its processors is looked at
// once a second. All functions from one thread.
#pragma once

#include <memory>

#include "client/host/cpu_gate.h"

namespace gleaner::platform {

class CpuLimiter final : public host::CpuGate {
 public:
  CpuLimiter();
  ~CpuLimiter() override;  // lets everything run again that is still registered

  void add(const host::KernelTree& kernel) override;
  void remove(io::TreeHandle tree) override;
  void pause(io::TreeHandle tree) override;
  void resume(io::TreeHandle tree) override;
  void set_share(double share) override;
  [[nodiscard]] std::string offence(io::TreeHandle tree) const override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gleaner::platform
