#include "client/platform/cgroup.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace gleaner::platform {
namespace {

constexpr const char* group_prefix = "gleaner-";
constexpr int make_tries_max = 10;
constexpr const char* freezer_file = "cgroup.freeze";

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

std::string slot_name(int slot) {
  return "slot-" + std::to_string(slot);
}

void remove_group(const io::Path& directory) {
  ::rmdir(directory.c_str());  // refused while something is in it: the next start tries again
}

std::vector<std::string> split(const std::string& list, char separator) {
  std::vector<std::string> words;
  std::istringstream text(list);
  for (std::string one; std::getline(text, one, separator);) words.push_back(one);
  return words;
}

bool listed(const std::vector<std::string>& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// Process ids of containers mean nothing to each other; the number of their namespace does.
std::string name_in(const io::Path& proc) {
  struct stat facts {};
  const bool known = ::stat((proc / "self/ns/pid").c_str(), &facts) == 0;
  return group_prefix + (known ? std::to_string(facts.st_ino) + "-" : "") + std::to_string(::getpid());
}

bool is_at(const io::Descriptor& group, const io::Path& directory) {
  struct stat held {};
  struct stat found {};
  return ::fstat(group.get(), &held) == 0 && ::stat(directory.c_str(), &found) == 0 &&
         held.st_ino == found.st_ino && held.st_dev == found.st_dev;
}

// Ends with the process that has it. Not valid: somebody else has it, or the group is gone.
io::Descriptor lock_group(const io::Path& directory) {
  io::Descriptor group(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!group.valid() || ::flock(group.get(), LOCK_EX | LOCK_NB) != 0 || !is_at(group, directory)) return {};
  return group;
}

// What clients left that were killed.
void clear_away(const io::Path& mount) {
  std::error_code error;
  std::vector<io::Path> left;
  for (std::filesystem::directory_iterator entry(mount, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename();
    if (name.starts_with(group_prefix)) left.push_back(entry->path());
  }
  for (const io::Path& group : left) {
    const io::Descriptor lock = lock_group(group);
    if (!lock.valid()) continue;  // a client runs, whoever sees its process
    std::vector<io::Path> slots;
    for (std::filesystem::directory_iterator entry(group, error), end; !error && entry != end;
         entry.increment(error))
      if (entry->is_directory(error)) slots.push_back(entry->path());
    for (const io::Path& slot : slots) remove_group(slot);
    remove_group(group);
  }
}

}  // namespace

Cgroups::Cgroups(bool last_in_line, CgroupRoots roots)
    : last_in_line_(last_in_line), name_(name_in(roots.proc)) {
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
    if (controllers.empty()) {
      // Where version 1 has the controllers, version 2 may be mounted beside them.
      const io::Path beside = roots.mount / "unified";
      find_version_2(below(std::filesystem::is_directory(beside) ? beside : roots.mount));
    }
    for (const std::string& one : split(controllers, ','))  // "cpu,cpuacct"
      if ((one == "cpu" && last_in_line_) || one == "memory" || one == "pids")
        find_version_1(one, below(roots.mount / one));
  }
}

// Since Linux 5.15 a group can be idle as a whole; before, it can have the least weight.
bool Cgroups::put_last(const io::Path& group) {
  const auto there = [&group](const char* name) { return ::access((group / name).c_str(), W_OK) == 0; };
  if (there("cpu.idle") && put(group / "cpu.idle", "1")) return true;
  if (there("cpu.weight")) return put(group / "cpu.weight", "1");
  return there("cpu.shares") && put(group / "cpu.shares", "2");
}

std::optional<Cgroups::Parent> Cgroups::make_parent(const io::Path& mount) const {
  // Whoever clears away may have locked it for a moment, and removed it.
  for (int tries = 0; tries < make_tries_max; ++tries) {
    const io::Path kernels = mount / (name_ + "-kernels");
    if (!make(kernels)) return std::nullopt;
    if (io::Descriptor lock = lock_group(kernels); lock.valid())
      return Parent{kernels, std::move(lock), {}, false};
  }
  return std::nullopt;
}

void Cgroups::find_version_1(const std::string& controller, const io::Path& mount) {
  clear_away(mount);
  auto kernels = make_parent(mount);
  if (!kernels) return;
  const io::Path& group = kernels->directory;
  if (::access((group / "cgroup.procs").c_str(), W_OK) != 0 || (controller == "cpu" && !put_last(group)))
    return remove_group(group);
  kernels->controllers = {controller};
  parents_.push_back(*std::move(kernels));
}

// Groups that hold processes cannot give controllers to their children: this process moves into one of its
// own first.
void Cgroups::find_version_2(const io::Path& mount) {
  const std::string text = contents(mount / "cgroup.controllers");
  const auto offered = split(text.substr(0, text.find('\n')), ' ');
  std::vector<std::string> wanted;
  for (const char* one : {"cpu", "memory", "pids"})
    if (listed(offered, one) && (one != std::string("cpu") || last_in_line_)) wanted.emplace_back(one);
  if (wanted.empty()) return find_freezer(mount);
  clear_away(mount);
  const io::Path own = mount / (name_ + "-client");
  auto parent = make_parent(mount);
  if (!parent) return;
  const io::Path& kernels = parent->directory;
  const auto undo = [&own, &kernels] {
    remove_group(own);
    remove_group(kernels);
  };
  if (!make(own) || !put(own / "cgroup.procs", std::to_string(::getpid()))) return undo();
  std::vector<std::string> had;
  for (const std::string& one : wanted) {
    if (!put(mount / "cgroup.subtree_control", "+" + one)) continue;
    // The slots share the processor like processes of one group; the other controllers count each by itself.
    if (one == "cpu" ? put_last(kernels) : put(kernels / "cgroup.subtree_control", "+" + one))
      had.push_back(one);
  }
  if (had.empty()) {
    put(mount / "cgroup.procs", std::to_string(::getpid()));
    undo();
    return find_freezer(mount);
  }
  if (::access((kernels / freezer_file).c_str(), W_OK) == 0) had.emplace_back("freezer");
  parent->controllers = had;
  parent->unified = true;
  parents_.push_back(*std::move(parent));
}

// Without any controller this process can stay where it is.
void Cgroups::find_freezer(const io::Path& mount) {
  if (::access((mount / "cgroup.controllers").c_str(), R_OK) != 0 ||
      ::access((mount / "cgroup.procs").c_str(), W_OK) != 0)
    return;
  clear_away(mount);
  auto parent = make_parent(mount);
  if (!parent) return;
  if (::access((parent->directory / freezer_file).c_str(), W_OK) != 0) return remove_group(parent->directory);
  parent->controllers = {"freezer"};
  parent->unified = true;
  parents_.push_back(*std::move(parent));
}

// What looks unused may be removed by others who have the right: only the client knows that it is needed.
bool Cgroups::restore(Parent& parent) const {
  if (is_at(parent.lock, parent.directory)) return true;
  auto again = make_parent(parent.directory.parent_path());
  if (!again) return false;
  parent.lock = std::move(again->lock);
  for (const std::string& one : parent.controllers) {
    const bool done = one == "cpu" ? put_last(parent.directory)
                                   : !parent.unified || one == "freezer" ||
                                         put(parent.directory / "cgroup.subtree_control", "+" + one);
    if (!done) return false;
  }
  return true;
}

std::vector<io::Path> Cgroups::prepare(int slot, std::int64_t memory_bytes, int tasks) {
  std::vector<io::Path> joined;
  std::erase_if(parents_, [this](Parent& parent) { return !restore(parent); });
  for (Parent& parent : parents_) {
    if (!parent.unified && listed(parent.controllers, "cpu")) {
      joined.push_back(parent.directory);
      continue;
    }
    const io::Path group = parent.directory / slot_name(slot);
    if (!make(group)) continue;
    bool limited = true;
    if (listed(parent.controllers, "memory"))
      limited = put(group / (parent.unified ? "memory.max" : "memory.limit_in_bytes"),
                    std::to_string(memory_bytes));
    if (!limited) std::erase(parent.controllers, "memory");  // nobody relies on it from now on
    if (listed(parent.controllers, "pids"))
      limited = put(group / "pids.max", std::to_string(tasks)) && limited;
    if (listed(parent.controllers, "freezer")) put(group / freezer_file, "0");  // as the last kernel left it
    if (!limited) {
      remove_group(group);
      continue;
    }
    if (std::find(made_.begin(), made_.end(), group) == made_.end()) made_.push_back(group);
    joined.push_back(group);
  }
  ended_before_[slot] = ended_for_memory(slot);
  return joined;
}

io::Path Cgroups::control_group(int slot) const {
  for (const Parent& parent : parents_) {
    const io::Path group = parent.directory / slot_name(slot);
    if (listed(parent.controllers, "freezer") && std::find(made_.begin(), made_.end(), group) != made_.end())
      return group;
  }
  return {};
}

std::int64_t Cgroups::ended_for_memory(int slot) const {
  for (const Parent& parent : parents_) {
    if (!listed(parent.controllers, "memory")) continue;
    std::ifstream events(parent.directory / slot_name(slot) /
                         (parent.unified ? "memory.events" : "memory.oom_control"));
    std::int64_t count = 0;
    for (std::string name; events >> name >> count;)
      if (name == "oom_kill") return count;
  }
  return 0;
}

bool Cgroups::out_of_memory(int slot) const {
  const auto before = ended_before_.find(slot);
  return before != ended_before_.end() && ended_for_memory(slot) > before->second;
}

bool Cgroups::has(const std::string& controller) const {
  return std::any_of(parents_.begin(), parents_.end(),
                     [&](const Parent& parent) { return listed(parent.controllers, controller); });
}

std::string Cgroups::describe() const {
  std::string what;
  for (const auto& [controller, word] : {std::pair{"cpu", "the processor"},
                                         {"memory", "memory"},
                                         {"pids", "processes"},
                                         {"freezer", "pauses"}})
    if (has(controller)) what += (what.empty() ? "" : ", ") + std::string(word);
  return what.empty() ? what : "control groups for " + what;
}

Cgroups::~Cgroups() {
  for (const io::Path& group : made_) remove_group(group);
  for (const Parent& parent : parents_) remove_group(parent.directory);
}

}  // namespace gleaner::platform
