#include "client/platform/group_limits.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace gleaner::platform {
namespace {

// The number at the beginning of a file; nothing without one ("max").
template <typename Number>
bool read(const io::Path& path, Number& value) {
  std::ifstream file(path);
  return static_cast<bool>(file >> value);
}

void bound(double& processors, double quota, double period) {
  if (quota > 0 && period > 0) processors = std::min(processors, quota / period);
}

// Files of both versions: a directory has those of one.
void bound_by(const io::Path& group, GroupLimits& limits) {
  double quota = 0, period = 0;
  if (read(group / "cpu.cfs_quota_us", quota) && read(group / "cpu.cfs_period_us", period))
    bound(limits.processors, quota, period);  // a quota of -1 is none
  if (std::ifstream both(group / "cpu.max"); both >> quota >> period) bound(limits.processors, quota, period);
  std::int64_t bytes = 0;
  for (const char* name : {"memory.limit_in_bytes", "memory.max", "memory.high"})
    if (read(group / name, bytes) && bytes > 0) limits.memory_bytes = std::min(limits.memory_bytes, bytes);
}

// In a container the path may be the outside's: then what is mounted is ours from its top.
void bound_from(const io::Path& mount, const io::Path& within, GroupLimits& limits) {
  std::error_code error;
  io::Path group = std::filesystem::exists(mount / within, error) ? within : io::Path();
  while (!group.empty()) {
    bound_by(mount / group, limits);
    group = group.parent_path();
  }
  bound_by(mount, limits);
}

}  // namespace

GroupLimits group_limits(const io::Path& proc, const io::Path& mount) {
  GroupLimits limits;
  std::ifstream lines(proc / "self/cgroup");  // "4:cpu,cpuacct:/user.slice", "0::/user.slice"
  for (std::string line; std::getline(lines, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const io::Path within = io::Path(line.substr(second + 1)).relative_path();
    std::istringstream controllers(line.substr(first + 1, second - first - 1));
    if (first + 1 == second) {
      bound_from(mount, within, limits);
      bound_from(mount / "unified", within, limits);
    }
    for (std::string one; std::getline(controllers, one, ',');)
      if (one == "cpu" || one == "memory") bound_from(mount / one, within, limits);
  }
  return limits;
}

}  // namespace gleaner::platform
