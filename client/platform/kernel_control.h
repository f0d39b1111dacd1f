// Stops and continues a kernel with all that it has started, and counts the processor time that they use. On
// Linux by its control group of version 2 where it has one: the freezer, from which nothing wakes itself, and
// cpu.stat, which counts every process that ever was in it. Else by signals to its process group and the
// processes' clocks.
//
// The freezer of version 1 is not used: frozen processes cannot be killed, and would outlive a client that
// was. Not thread-safe. Platform file: kernel_control_linux.cpp.
#pragma once

#include <memory>
#include <optional>

#include "client/host/cpu_gate.h"
#include "shared/base/clock.h"

namespace gleaner::platform {

class KernelControl {
 public:
  explicit KernelControl(const host::KernelTree& kernel);
  ~KernelControl();
  KernelControl(const KernelControl&) = delete;
  KernelControl& operator=(const KernelControl&) = delete;

  // One resume() undoes any number of stop().
  void stop();
  void resume();
  void thaw();  // a stopped one stays stopped
  void end();   // all that it has started, too
  // It cannot run: the system holds it. False while it is only told to stop.
  [[nodiscard]] bool frozen() const;
  // Processor time so far; nothing if it is gone.
  [[nodiscard]] std::optional<Duration> used();
  // It ran for `elapsed` since the last call: what processes may have used in that time, at most, that ended
  // unseen because nobody waited for them. Nothing counts them but a control group: where there is none, each
  // that is gone is taken to have run all the time, less what was counted by those that waited.
  [[nodiscard]] Duration lost(Duration elapsed);
  void forget();

 private:
  struct System;
  std::unique_ptr<System> system_;
};

// Processors that this computer runs with now, whether this process may use them or not; at least 1.
[[nodiscard]] double processors_online();

}  // namespace gleaner::platform
