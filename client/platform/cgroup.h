// Control groups for kernels, where this process may make some: one for all of them, which gets the processor
// when nothing else wants it (the lowest scheduling class and nice count only within the scheduler's group,
// which without control groups is a session), and in it one for each slot, which bounds the memory and the
// number of processes of all that its kernel starts, together. Version 1 (controllers cpu, memory and pids)
// and version 2 (what was delegated to us). Not thread-safe. Platform file: cgroup_linux.cpp.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "shared/base/result.h"
#include "shared/io/descriptor.h"
#include "shared/io/files.h"

namespace gleaner::platform {

struct CgroupRoots {
  io::Path proc = "/proc";
  io::Path mount = "/sys/fs/cgroup";
};

class Cgroups {
 public:
  // Finds where groups can be made; none() if nowhere. Clears away what clients left that were killed. A
  // group is locked (flock) by the client that made it: its process id means nothing in another container,
  // which may have the same control groups. `last_in_line`: the processor is to be given to everything else
  // first.
  explicit Cgroups(bool last_in_line, CgroupRoots roots = {});
  ~Cgroups();  // removes the groups that are empty by then
  Cgroups(const Cgroups&) = delete;
  Cgroups& operator=(const Cgroups&) = delete;

  [[nodiscard]] bool none() const { return parents_.empty(); }
  // The directories whose groups a new kernel is to join. Groups that somebody removed are made anew. Limits
  // that cannot be set are left out, with their group.
  [[nodiscard]] std::vector<io::Path> prepare(int slot, std::int64_t memory_bytes, int tasks);
  // Whether the system ended a process of the slot's since prepare(), because together they wanted more
  // memory.
  [[nodiscard]] bool out_of_memory(int slot) const;
  [[nodiscard]] bool count_memory() const { return has("memory"); }
  // The slot's group of version 2, which freezes and counts processor time without any controller; empty:
  // none.
  [[nodiscard]] io::Path control_group(int slot) const;
  // "control groups for the processor, memory, processes, pauses"; empty if none.
  [[nodiscard]] std::string describe() const;

 private:
  struct Parent {
    io::Path directory;                    // the group for all kernels
    io::Descriptor lock;                   // on it
    std::vector<std::string> controllers;  // "cpu", "memory", "pids": that it has; "freezer": of version 2
    bool unified = false;
  };
  [[nodiscard]] bool has(const std::string& controller) const;
  [[nodiscard]] std::optional<Parent> make_parent(const io::Path& mount) const;
  [[nodiscard]] bool restore(Parent& parent) const;
  void find_version_1(const std::string& controller, const io::Path& mount);
  void find_version_2(const io::Path& mount);
  void find_freezer(const io::Path& mount);
  [[nodiscard]] std::int64_t ended_for_memory(int slot) const;
  // Whether the group is now the last to get the processor.
  [[nodiscard]] static bool put_last(const io::Path& group);

  bool last_in_line_;
  std::string name_;  // with the client's process id, and the namespace that this is of
  std::vector<Parent> parents_;
  std::vector<io::Path> made_;
  std::map<int, std::int64_t> ended_before_;  // by slot: groups serve one kernel after the other
};

}  // namespace gleaner::platform
