// The CpuGate of a system with process groups: pauses by SIGSTOP, and below a full share slices by the
// closed-loop controller of client/policy/cpu_share.h on a thread of its own. At a full share, or while
// nothing is to be sliced, that thread sleeps. All functions from one thread. Platform file:
// cpu_limiter_linux.cpp.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "client/host/cpu_gate.h"
#include "shared/base/clock.h"

namespace gleaner::platform {

// CPU time that a process and all that descend from it have used; nothing if it is gone.
using CpuReader = std::function<std::optional<Duration>(int process)>;
// By the processes' CPU clocks: nanoseconds, all threads, dead ones included.
[[nodiscard]] CpuReader tree_cpu_reader();

class CpuLimiter final : public host::CpuGate {
 public:
  explicit CpuLimiter(CpuReader read_cpu = tree_cpu_reader());
  ~CpuLimiter() override;  // lets everything run again that is still registered

  void add(int group, int threads) override;
  void remove(int group) override;
  void pause(int group) override;
  void resume(int group) override;
  void set_share(double share) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gleaner::platform
