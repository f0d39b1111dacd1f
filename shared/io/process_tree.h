// A process and all that descend from it, as one: a sandboxed program is the grandchild of what was started.
// From /proc; a process that ends meanwhile simply counts no more, but its CPU time does (its parent has it).
// Thread-safe. Platform file: process_tree_linux.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "shared/base/clock.h"
#include "shared/io/files.h"

namespace gleaner::io {

struct TreeUse {
  int processes = 0;
  int threads = 0;
  std::int64_t memory_bytes = 0;  // resident or swapped out, files aside; what they share in parts
  bool asleep = false;  // every thread of every process is (neither running, nor ready, nor stopped)
};

class ProcessTree {
 public:
  explicit ProcessTree(Path proc = "/proc");

  // The root first; empty if it is gone. At most `processes_max`.
  [[nodiscard]] std::vector<int> processes(int root) const;
  // CPU time that all of them, and all that they have buried, have used; nothing if the root is gone. Never
  // less than what the same tree returned before, but for rounding (10 ms for each process that ended).
  [[nodiscard]] std::optional<Duration> cpu_time(int root) const;
  [[nodiscard]] TreeUse use(int root) const;
  // The most memory that each was ever resident with, added up; shared libraries count. 0 if the root is
  // gone.
  [[nodiscard]] std::int64_t peak_memory(int root) const;
  // CPU time of those that `process` has waited for.
  [[nodiscard]] Duration buried_by(int process) const;
  // Processor time that all below `root`, and what those have buried, spent in the system.
  [[nodiscard]] Duration system_time_below(int root) const;

  static constexpr std::size_t processes_max = 4096;

 private:
  Path proc_;
};

// cpu_time() of one tree, read often: who belongs to it is looked up again as soon as somebody is gone, and
// else ever more rarely, once a second at last. What a newcomer used unseen is counted then. Not thread-safe.
class TreeClock {
 public:
  explicit TreeClock(int root) : root_(root) {}
  [[nodiscard]] std::optional<Duration> read();

 private:
  [[nodiscard]] bool look_up(SteadyTime now);

  int root_;
  std::vector<int> processes_;
  Duration buried_{0};  // CPU time of those that ended
  SteadyTime look_up_at_{};
  Duration interval_{0};
};

}  // namespace gleaner::io
