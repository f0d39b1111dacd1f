// Stops and continues a kernel with all that it has started, and counts the processor time that they use. By
// its control group of version 2 where it has one: the freezer, from which nothing wakes itself, and
// cpu.stat, which counts every process that ever was in it. Else by signals to its process group and the
// processes' clocks.
//
// The freezer of version 1 is not used: frozen processes cannot be killed, and would outlive a client that
// was. Not thread-safe. Platform file: kernel_control_linux.cpp.
#pragma once

#include <optional>
#include <vector>

#include "client/host/cpu_gate.h"
#include "shared/base/clock.h"
#include "shared/io/descriptor.h"
#include "shared/io/process_tree.h"

namespace gleaner::platform {

class KernelControl {
 public:
  explicit KernelControl(const host::KernelTree& kernel);

  void stop();
  void resume();
  void thaw();  // a stopped one stays stopped
  void kill();
  // It cannot run: the system holds it. False while it is only stopped by a signal.
  [[nodiscard]] bool frozen() const { return frozen_; }
  // Processor time so far; nothing if it is gone.
  [[nodiscard]] std::optional<Duration> used();
  // It ran for `elapsed` since the last call: what processes may have used in that time, at most, that ended
  // unseen because nobody waited for them. Nothing counts them but a control group: where there is none, each
  // that is gone is taken to have run all the time, less what was counted by those that waited.
  [[nodiscard]] Duration lost(Duration elapsed);
  void forget();

 private:
  [[nodiscard]] bool freeze(bool wanted);
  void send(int signal_number) const;

  int group_;
  io::Descriptor freezer_;
  io::Descriptor statistics_;
  io::TreeClock clock_;
  bool frozen_ = false;
  std::vector<int> seen_;  // at the last call of lost()
  Duration buried_{0};
  Duration ran_{0};  // since then
};

}  // namespace gleaner::platform
