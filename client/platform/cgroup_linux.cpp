#include "client/platform/cgroup.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace gleaner::platform {
namespace {

constexpr const char* group_prefix = "gleaner-";  // then the client's process id

std::string contents(const io::Path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

bool put(const io::Path& path, const std::string& value) {
  std::ofstream file(path);
  file << value;
  file.flush();
  return file.good();
}

bool make(const io::Path& directory) {
  std::error_code error;
  std::filesystem::create_directory(directory, error);
  return !error && std::filesystem::is_directory(directory, error) && ::access(directory.c_str(), W_OK) == 0;
}

void remove_group(const io::Path& directory) {
  ::rmdir(directory.c_str());  // refused while something is in it: the next start tries again
}

bool listed(const std::string& list, const std::string& word) {
  std::istringstream words(list);
  for (std::string one; words >> one;)
    if (one == word) return true;
  return false;
}

}  // namespace

Cgroups::Cgroups(CgroupRoots roots)
    : proc_(roots.proc), name_(std::string(group_prefix) + std::to_string(::getpid())) {
  std::istringstream lines(contents(roots.proc / "self/cgroup"));  // "4:memory:/user.slice", "0::/user.slice"
  for (std::string line; std::getline(lines, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const io::Path within = io::Path(line.substr(second + 1)).relative_path();
    // In a container the path may be the outside's: then what is mounted is ours from its top.
    const auto below = [&within](const io::Path& mount) {
      std::error_code error;
      return std::filesystem::exists(mount / within / "cgroup.procs", error) ? mount / within : mount;
    };
    if (controllers == "memory" || controllers == "pids")
      find_version_1(controllers, below(roots.mount / controllers));
    if (controllers.empty()) find_version_2(controllers, below(roots.mount));
  }
}

void Cgroups::clear_away(const io::Path& mount) const {
  std::error_code error;
  std::vector<io::Path> left;
  for (std::filesystem::directory_iterator entry(mount, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename();
    if (!name.starts_with(group_prefix)) continue;
    const std::string owner = name.substr(std::string(group_prefix).size(), name.find('-', 8) - 8);
    std::error_code unknown;
    if (!std::filesystem::exists(proc_ / owner, unknown)) left.push_back(entry->path());
  }
  for (const io::Path& group : left) remove_group(group);
}

void Cgroups::find_version_1(const std::string& controller, const io::Path& mount) {
  clear_away(mount);
  const io::Path trial = mount / (name_ + "-trial");
  if (!make(trial)) return;
  const bool works = ::access((trial / "cgroup.procs").c_str(), W_OK) == 0;
  remove_group(trial);
  if (works) parents_.push_back({mount, controller, false});
}

// Groups that hold processes cannot give controllers to their children: this process moves into one of its
// own first.
void Cgroups::find_version_2(const std::string&, const io::Path& mount) {
  const std::string offered = contents(mount / "cgroup.controllers");
  if (!listed(offered, "memory") || !listed(offered, "pids")) return;
  clear_away(mount);
  const io::Path own = mount / (name_ + "-client");
  if (!make(own)) return;
  if (!put(own / "cgroup.procs", std::to_string(::getpid())) ||
      !put(mount / "cgroup.subtree_control", "+memory +pids")) {
    put(mount / "cgroup.procs", std::to_string(::getpid()));
    return remove_group(own);
  }
  parents_.push_back({mount, "memory pids", true});
}

std::vector<io::Path> Cgroups::prepare(int slot, std::int64_t memory_bytes, int tasks) {
  std::vector<io::Path> joined;
  for (const Parent& parent : parents_) {
    const io::Path group = parent.directory / (name_ + "-slot-" + std::to_string(slot));
    if (!make(group)) continue;
    bool limited = true;
    if (listed(parent.controllers, "memory"))
      limited = put(group / (parent.unified ? "memory.max" : "memory.limit_in_bytes"),
                    std::to_string(memory_bytes));
    if (listed(parent.controllers, "pids"))
      limited = put(group / "pids.max", std::to_string(tasks)) && limited;
    if (!limited) {
      remove_group(group);
      continue;
    }
    if (std::find(made_.begin(), made_.end(), group) == made_.end()) made_.push_back(group);
    joined.push_back(group);
  }
  return joined;
}

std::string Cgroups::describe() const {
  bool memory = false;
  bool processes = false;
  for (const Parent& parent : parents_) {
    memory = memory || listed(parent.controllers, "memory");
    processes = processes || listed(parent.controllers, "pids");
  }
  if (!memory && !processes) return {};
  return std::string("control groups for ") + (memory ? "memory" : "") +
         (memory && processes ? " and " : "") + (processes ? "processes" : "");
}

Cgroups::~Cgroups() {
  for (const io::Path& group : made_) remove_group(group);
}

}  // namespace gleaner::platform
