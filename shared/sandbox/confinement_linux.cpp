#include <pwd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <thread>

#include "shared/io/distribution.h"
#include "shared/io/run_program.h"
#include "shared/sandbox/confinement.h"

namespace gleaner::sandbox {
namespace {

// At the lowest priority on a busy computer; nobody asks again until the next start.
constexpr Duration check_patience = std::chrono::seconds{60};
constexpr const char* trial_file = "gleaner-sandbox-check";  // as the helper writes it
constexpr unsigned own_users_begin = 61184, own_users_end = 65520;
constexpr const char* devices[] = {"/dev/null", "/dev/full", "/dev/random", "/dev/urandom"};
// What of /proc may be read: how programs find the processor's parts. Paths of all mounts, with their owner's
// name, stand in it as well, and what tells one computer from another.
constexpr const char* processor_facts = "/proc/cpuinfo";
// Directories in it whose names tell which devices there are.
constexpr const char* device_lists[] = {"acpi", "asound", "bus", "driver", "fs", "irq", "scsi", "sys", "tty"};
constexpr const char* zero_device = "/dev/zero";  // a source of shared memory, too

// From the best on.
constexpr Walls with_namespaces[] = {
    {true, true, true}, {true, false, true}, {true, true, false}, {true, false, false}};
constexpr Walls landlock_alone = {false, false, false};

void append(std::vector<std::string>& all, const std::vector<std::string>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

// Arguments of bubblewrap, with parents that everybody may pass.
class Mounts {
 public:
  std::vector<std::string> arguments;

  void add(const std::vector<std::string>& more) { append(arguments, more); }
  void bind(const char* how, const io::Path& outside, const io::Path& inside) {
    parents(inside);
    made_.insert(inside);
    add({how, outside.string(), inside.string()});
  }
  void link(const std::string& target, const io::Path& inside) {
    parents(inside);
    add({"--symlink", target, inside.string()});
  }

 private:
  void parents(const io::Path& path) {
    const io::Path parent = path.parent_path();
    if (parent == "/" || parent.empty() || !made_.insert(parent).second) return;
    parents(parent);
    add({"--perms", "0755", "--dir", parent.string()});
  }

  std::set<io::Path> made_;
};

// So that programs find themselves (/proc/self/exe). What may be read in it is Landlock's to say: where there
// is no Landlock, the attempt with it finds that out.
void mount_proc(Mounts& mounts) {
  mounts.add({"--proc", "/proc"});
  for (const char* list : device_lists) {
    const io::Path place = io::Path("/proc") / list;
    std::error_code error;
    if (std::filesystem::is_directory(place, error))
      mounts.add({"--perms", "0555", "--tmpfs", place.string(), "--remount-ro", place.string()});
  }
}

std::vector<std::string> bubblewrap(const Tools& tools, const Walls& walls, const Confined& confined) {
  Mounts mounts;
  mounts.add({tools.bubblewrap.string(), "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts",
              "--unshare-cgroup-try", "--die-with-parent", "--as-pid-1", "--hostname", "gleaner",
              "--cap-drop", "ALL"});
  // As the superuser no user namespace is needed, and the way to the state is open to it alone; what is
  // left of its rights is what gleaner-sandbox needs to become another user.
  if (confined.user > 0) {
    mounts.add({"--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"});
  } else {
    const std::string user = std::to_string(own_users_begin);  // the same everywhere
    mounts.add({"--unshare-user", "--uid", user, "--gid", user});
  }
  if (confined.scratch_bytes > 0) mounts.add({"--cap-add", "CAP_SYS_ADMIN"});  // to mount it
  for (const RuntimeFile& file : confined.runtime) {
    if (file.hidden)
      mounts.add({"--perms", "0555", "--tmpfs", file.path.string(), "--remount-ro", file.path.string()});
    else if (file.link.empty())
      mounts.bind("--ro-bind", file.path, file.path);
    else
      mounts.link(file.link, file.path);
  }
  if (walls.proc)
    mount_proc(mounts);
  else
    mounts.bind("--ro-bind", processor_facts, processor_facts);
  for (const char* device : devices) mounts.bind("--dev-bind", device, device);
  if (confined.memory_counted) mounts.bind("--dev-bind", zero_device, zero_device);
  mounts.bind("--ro-bind", tools.helper, inner_helper);
  for (const Place& place : confined.readable) mounts.bind("--ro-bind", place.outside, place.inside);
  mounts.bind("--bind", confined.writable.outside, confined.writable.inside);
  if (confined.tmp) mounts.link(confined.writable.inside.string(), "/tmp");
  mounts.add({"--chdir", confined.writable.inside.string(), "--remount-ro", "/", "--"});
  return std::move(mounts.arguments);
}

// Those that the processes of this computer have.
std::set<unsigned> users_in_use() {
  std::set<unsigned> users;
  std::error_code error;
  for (std::filesystem::directory_iterator entry("/proc", error), end; !error && entry != end;
       entry.increment(error)) {
    struct stat facts {};
    if (::stat(entry->path().c_str(), &facts) == 0) users.insert(facts.st_uid);
  }
  return users;
}

std::vector<std::string> landlock_rules(const Walls& walls, const Confined& confined) {
  const auto seen = [&](const Place& place) {
    return (walls.namespaces ? place.inside : place.outside).string();
  };
  std::vector<std::string> all;
  for (const RuntimeFile& file : confined.runtime)
    if (file.link.empty() && !file.hidden) append(all, {"--read", file.path.string()});
  for (const Place& place : confined.readable) append(all, {"--read", seen(place)});
  append(all, {"--read", processor_facts});
#ifdef GLEANER_SANITIZED  // its run-time reads where it is mapped
  if (walls.namespaces) append(all, {"--read", "/proc"});
#endif
  for (const char* device : devices) append(all, {"--device", device});
  if (confined.memory_counted) append(all, {"--device", zero_device});
  append(all, {"--write", seen(confined.writable)});
  return all;
}

// `wrote`: whether its file is seen from outside, asked while it runs.
std::string run_trial(io::ProcessRunner& processes, const io::ProcessSpec& spec,
                      const std::function<bool(const io::Process&)>& wrote) {
  const auto started = processes.start(spec);
  if (!started.ok()) return started.error().message;
  io::Process& process = **started;
  Bytes said;
  std::string trouble;
  for (Duration waited{0}; waited < check_patience; waited += std::chrono::milliseconds{2}) {
    if (said.empty() && process.read_some(said, sizeof "ready") == io::ReadKind::data) {
      if (!wrote(process)) trouble = "what it writes cannot be read";
      process.close_input();
    }
    if (const auto exit = process.poll_exit()) {
      if (exit->well()) return trouble;
      std::string words = process.error_tail();
      words = words.substr(0, words.find_last_not_of('\n') + 1);
      std::replace(words.begin(), words.end(), '\n', ';');
      return words.empty() ? exit->describe() : words;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{2});
  }
  return "it did not answer";
}

}  // namespace

std::vector<std::string> command_line(const Tools& tools, const Walls& walls, const Confined& confined) {
  std::vector<std::string> all = {tools.helper.string(), "enter"};
  for (const io::Path& group : confined.cgroups) append(all, {"--cgroup", group.string()});
  all.emplace_back("--");
  if (walls.namespaces) append(all, bubblewrap(tools, walls, confined));
  append(all, {walls.namespaces ? inner_helper : tools.helper.string(), "confine"});
  if (confined.user > 0) append(all, {"--user", std::to_string(confined.user)});
  // The system counts tasks by user: in a user namespace, or as a user of its own, the program's alone; else
  // all that this user runs elsewhere count too.
  const bool counts_others = confined.user == 0 && !walls.namespaces;
  append(all,
         {"--processes", std::to_string(confined.processes + (counts_others ? tasks_of_this_user() : 0))});
  if (confined.scratch_bytes > 0) append(all, {"--scratch", std::to_string(confined.scratch_bytes)});
  if (confined.memory_counted) append(all, {"--counted", "yes"});
  append(all, landlock_rules(walls, confined));
  // The program that tries the walls is the helper itself.
  if (const std::string& program = confined.program.front();
      program == inner_helper || program == tools.helper.string())
    append(all, {"--read", program});
  all.emplace_back("--");
  append(all, confined.program);
  return all;
}

std::string try_walls(io::ProcessRunner& processes, io::Files& files, const Tools& tools, const Walls& walls,
                      const io::Path& place, const Attempt& attempt) {
  const io::Path foreign = place / "foreign";  // where no namespace hides it
  const std::string trouble = [&]() -> std::string {
    Trial trial;
    trial.directory = place / "slot";
    trial.program = {walls.namespaces ? inner_helper : tools.helper.string(), "check", "/etc/shadow",
                     foreign.string()};
    Status made = files.make_directories(trial.directory);
    if (made.ok()) made = files.write(foreign, "", io::Mode::secret);
    if (!made.ok()) return made.error().message;
    const auto spec = attempt.confine(trial);
    if (!spec.ok()) return spec.error().message;
    return run_trial(processes, *spec, [&](const io::Process& process) {
      return files.exists((attempt.seen ? attempt.seen(process) : trial.directory) / trial_file);
    });
  }();
  (void)files.remove_all(place);  // the next start tries again
  return trouble;
}

int landlock_version() {
  constexpr long create_ruleset = 444;
  constexpr unsigned ask_version = 1;
  const long version = ::syscall(create_ruleset, nullptr, 0, ask_version);
  return version > 0 ? static_cast<int>(version) : 0;
}

io::Path find_bubblewrap() {
  for (const char* place : {"/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"})
    if (::access(place, X_OK) == 0) return place;
  return io::find_helper("bwrap", "gleaner");
}

std::string permit_namespaces(const io::Path& proc) {
  const std::string kept = "/etc/sysctl.d/99-gleaner.conf";  // is read at each start
  struct Setting {
    const char* file;
    const char* name;
    std::int64_t forbids, permits;
  };
  for (const Setting& one :
       {Setting{"kernel/apparmor_restrict_unprivileged_userns",
                "kernel.apparmor_restrict_unprivileged_userns", 1, 0},
        Setting{"kernel/unprivileged_userns_clone", "kernel.unprivileged_userns_clone", 0, 1},
        Setting{"user/max_user_namespaces", "user.max_user_namespaces", 0, 10'000}}) {
    std::ifstream file(proc / "sys" / one.file);
    std::int64_t value = 0;
    if (file >> value && value == one.forbids)
      return std::string("echo ") + one.name + "=" + std::to_string(one.permits) + " | sudo tee -a " + kept +
             " && sudo sysctl -p " + kept;
  }
  return {};
}

Found find_walls(const Tools& tools, int landlock, LandlockAlone alone,
                 const std::function<std::string(const Walls&)>& attempt) {
  Found found;
  if (tools.bubblewrap.empty())
    found.reason = "bubblewrap is not installed: " + io::install_command("bubblewrap");
  for (const Walls& walls : with_namespaces) {
    if (tools.bubblewrap.empty()) break;
    const std::string trouble = attempt(walls);
    if (trouble.empty()) return {walls, {}, false};
    if (found.reason.empty()) found.reason = trouble;
  }
  if (const std::string command = permit_namespaces(); !tools.bubblewrap.empty() && !command.empty())
    found.remedy = "let users create namespaces (`" + command + "`)";
  if (landlock < landlock_needed) {
    found.reason += landlock == 0 ? "; and this system has no Landlock"
                                  : "; and this system's Landlock is too old: Linux 6.2 has a newer one";
  } else if (alone == LandlockAlone::refused) {
    found.may_be_weak = true;
  } else if (const std::string trouble = attempt(landlock_alone); trouble.empty()) {
    found.walls = landlock_alone;
  } else {
    found.reason += "; and with Landlock alone: " + trouble;
  }
  return found;
}

unsigned own_user(const io::Path& root, std::int64_t number) {
  constexpr unsigned count = own_users_end - own_users_begin;
  const std::size_t first = std::hash<std::string>{}(root.string()) % count;
  unsigned user = own_users_begin + static_cast<unsigned>((first + static_cast<std::size_t>(number)) % count);
  for (unsigned tries = 0; tries < count && ::getpwuid(user) != nullptr; ++tries)
    user = own_users_begin + (user - own_users_begin + 1) % count;
  return user;
}

unsigned drawn_user(Random& random) {
  const std::set<unsigned> users = users_in_use();
  unsigned user = 0;
  do {
    user = own_users_begin + static_cast<unsigned>(random.below(own_users_end - own_users_begin));
  } while (users.contains(user) || ::getpwuid(user) != nullptr);
  return user;
}

int tasks_of_this_user() {
  int tasks = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator entry("/proc", error), end; !error && entry != end;
       entry.increment(error)) {
    struct stat facts {};
    const io::Path list = entry->path() / "task";
    if (::stat(list.c_str(), &facts) != 0 || facts.st_uid != ::geteuid()) continue;
    tasks += static_cast<int>(std::max<nlink_t>(facts.st_nlink, 2) - 2);  // a directory a task
  }
  return tasks;
}

}  // namespace gleaner::sandbox
