// A process and all that descend from it, as one: a sandboxed program is the grandchild of what was started.
// A process that ends meanwhile simply counts no more, but its CPU time does (its parent has it).
// Thread-safe. Platform file: process_tree_linux.cpp, which reads /proc.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "shared/base/clock.h"
#include "shared/io/files.h"

namespace gleaner::io {

// Names the tree of a process that was started; only platform files look into it. On Linux it is the id of
// that process, which leads its process group; a job fits there, too. It lasts as long as the Process that
// hands it out, and may name another tree afterwards.
class TreeHandle {
 public:
  using Native = std::intptr_t;
  constexpr TreeHandle() = default;  // of none
  constexpr explicit TreeHandle(Native native) : native_(native) {}
  [[nodiscard]] constexpr Native native() const { return native_; }
  auto operator<=>(const TreeHandle&) const = default;

 private:
  Native native_ = 0;
};

struct TreeUse {
  int processes = 0;
  int threads = 0;
  std::int64_t memory_bytes = 0;  // resident or swapped out, files aside; what they share in parts
  bool asleep = false;  // every thread of every process is (neither running, nor ready, nor stopped)
};

class ProcessTree {
 public:
  explicit ProcessTree(Path proc = "/proc");

  // Their ids, the root's first; empty if it is gone. At most `processes_max`.
  [[nodiscard]] std::vector<int> processes(TreeHandle root) const;
  // CPU time that all of them, and all that they have buried, have used; nothing if the root is gone. Never
  // less than what the same tree returned before, but for rounding (10 ms for each process that ended).
  [[nodiscard]] std::optional<Duration> cpu_time(TreeHandle root) const;
  [[nodiscard]] TreeUse use(TreeHandle root) const;
  // The most memory that each was ever resident with, added up; shared libraries count. 0 if the root is
  // gone.
  [[nodiscard]] std::int64_t peak_memory(TreeHandle root) const;
  // CPU time of those that `process` has waited for.
  [[nodiscard]] Duration buried_by(int process) const;
  // Processor time that all below `root`, and what those have buried, spent in the system.
  [[nodiscard]] Duration system_time_below(TreeHandle root) const;

  static constexpr std::size_t processes_max = 4096;

 private:
  Path proc_;
};

// cpu_time() of one tree, read often: who belongs to it is looked up again as soon as somebody is gone, and
// else ever more rarely, once a second at last. What a newcomer used unseen is counted then. Not thread-safe.
class TreeClock {
 public:
  explicit TreeClock(TreeHandle root) : root_(root) {}
  [[nodiscard]] std::optional<Duration> read();

 private:
  [[nodiscard]] bool look_up(SteadyTime now);

  TreeHandle root_;
  std::vector<int> processes_;
  Duration buried_{0};  // CPU time of those that ended
  SteadyTime look_up_at_{};
  Duration interval_{0};
};

}  // namespace gleaner::io
