// Accounting of the time spent on a unit, and detection of hung kernels: CPU and running time are charged to
// the unit; a kernel that does nothing, or spends too long on one item, is reported. Pure: the kernel's
// readings are arguments. Not thread-safe.
#pragma once

#include "client/engine/unit.h"
#include "client/policy/hang.h"

namespace gleaner::engine {

class ComputingTime {
 public:
  // A kernel process begins: its processor time counts from nothing.
  void start_kernel() { cpu_charged_ = Duration{0}; }
  // A unit begins, with a kernel that has used `cpu` so far.
  void start_unit(Duration cpu, SteadyTime now);
  void finish_item(Duration cpu) {
    cpu_at_item_ = cpu;
    on_item_ = Duration{0};
  }
  void resume(SteadyTime now) { watched_ = now; }

  // Charges the unit with what came since the last call.
  enum class State { running, paused };
  void charge(Unit& unit, Duration cpu, int threads, State state, SteadyTime now);

  // Of a running kernel, every second.
  [[nodiscard]] bool watch_due(SteadyTime now) const { return now - watched_ >= watch_interval; }
  [[nodiscard]] SteadyTime watch_at() const { return watched_ + watch_interval; }
  // `asleep`: all its processes sleep just now.
  [[nodiscard]] client_policy::HangVerdict watch(Duration cpu, bool asleep, double item_seconds, int threads,
                                                 SteadyTime now);

  static constexpr Duration watch_interval = std::chrono::seconds{1};

 private:
  SteadyTime charged_at_{};
  Duration cpu_charged_{0};
  Duration cpu_at_item_{0};
  Duration cpu_watched_{0};
  SteadyTime watched_{};
  Duration asleep_{0};
  Duration on_item_{0};  // running, since the last item
};

}  // namespace gleaner::engine
