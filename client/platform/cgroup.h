// Control groups for kernels, where this process may make some: they bound memory and the number of processes
// of all that a kernel starts, together. Version 1 (controllers memory and pids) and version 2 (what was
// delegated to us). Not thread-safe. Platform file: cgroup_linux.cpp.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "shared/base/result.h"
#include "shared/io/files.h"

namespace gleaner::platform {

struct CgroupRoots {
  io::Path proc = "/proc";
  io::Path mount = "/sys/fs/cgroup";
};

class Cgroups {
 public:
  // Finds where groups can be made; none() if nowhere. Clears away what clients left that were killed.
  explicit Cgroups(CgroupRoots roots = {});
  ~Cgroups();  // removes the groups that are empty by then
  Cgroups(const Cgroups&) = delete;
  Cgroups& operator=(const Cgroups&) = delete;

  [[nodiscard]] bool none() const { return parents_.empty(); }
  // The directories whose groups a new kernel is to join. Limits that cannot be set are left out, with their
  // group.
  [[nodiscard]] std::vector<io::Path> prepare(int slot, std::int64_t memory_bytes, int tasks);
  [[nodiscard]] std::string describe() const;  // "control groups for memory and processes"; empty if none

 private:
  struct Parent {
    io::Path directory;
    std::string controllers;  // "memory", "pids", "memory pids"
    bool unified = false;
  };
  void clear_away(const io::Path& mount) const;
  void find_version_1(const std::string& membership, const io::Path& mount);
  void find_version_2(const std::string& membership, const io::Path& mount);

  io::Path proc_;
  std::string name_;  // with the client's process id
  std::vector<Parent> parents_;
  std::vector<io::Path> made_;
};

}  // namespace gleaner::platform
