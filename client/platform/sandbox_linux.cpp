// The sandbox of Linux: bubblewrap builds the namespaces, gleaner-sandbox (client/sandbox) drops to the
// kernels' own user, enters Landlock, the limits and the system-call filter, and supervises.
#include <pwd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <functional>
#include <set>
#include <thread>

#include "client/platform/cgroup.h"
#include "client/platform/helpers.h"
#include "client/platform/runtime_files.h"
#include "client/platform/sandbox.h"
#include "shared/io/files.h"
#include "shared/io/process_tree.h"

namespace gleaner::platform {
namespace {

constexpr Duration check_patience = std::chrono::seconds{10};
// What systemd hands out to services without a user of their own, and nothing else may use.
constexpr unsigned own_users_begin = 61184, own_users_end = 65520;
constexpr const char* devices[] = {"/dev/null", "/dev/full", "/dev/random", "/dev/urandom"};
constexpr const char* zero_device = "/dev/zero";  // a source of shared memory, too
constexpr const char* inner_helper = "/gleaner-sandbox";
constexpr int landlock_needed = 3;  // without namespaces: before, files could be cut off
constexpr std::int64_t scratch_bytes_max = 256 << 20;
constexpr std::int64_t scratch_memory_part = 16;  // of this computer's memory at most

struct Walls {
  bool namespaces = true;
  bool proc = true;     // in them, a /proc of its own
  bool scratch = true;  // and slots in memory
};
// From the best on: containers may forbid the one or the other.
constexpr Walls with_namespaces[] = {
    {true, true, true}, {true, false, true}, {true, true, false}, {true, false, false}};
constexpr Walls landlock_alone = {false, false, false};

int landlock_version() {
  constexpr long create_ruleset = 444;
  constexpr unsigned ask_version = 1;
  const long version = ::syscall(create_ruleset, nullptr, 0, ask_version);
  return version > 0 ? static_cast<int>(version) : 0;
}

bool can_execute(const io::Path& path) {
  return ::access(path.c_str(), X_OK) == 0;
}

io::Path find_bubblewrap() {
  for (const char* place : {"/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"})
    if (can_execute(place)) return place;
  return {};
}

// Arguments of bubblewrap, with parents that everybody may pass.
class Mounts {
 public:
  std::vector<std::string> arguments;

  void add(const std::vector<std::string>& more) {
    arguments.insert(arguments.end(), more.begin(), more.end());
  }
  void parents(const io::Path& path) {
    const io::Path parent = path.parent_path();
    if (parent == "/" || parent.empty() || !made_.insert(parent).second) return;
    parents(parent);
    add({"--perms", "0755", "--dir", parent.string()});
  }
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
  std::set<io::Path> made_;
};

class LinuxSandbox final : public Sandbox {
 public:
  LinuxSandbox(SandboxSettings settings, Walls walls, int landlock)
      : settings_(std::move(settings)), walls_(walls), landlock_(landlock), superuser_(::geteuid() == 0) {
    const std::size_t digest = std::hash<std::string>{}(settings_.state_root.string());
    first_user_ = own_users_begin + static_cast<unsigned>(digest % (own_users_end - own_users_begin));
    if (settings_.use_cgroups) cgroups_ = std::make_unique<Cgroups>(settings_.priority == Priority::idle);
  }

  Result<io::ProcessSpec> confine(const host::KernelLaunch& launch) override {
    const bool namespaces = walls_.namespaces;
    const std::string slot = namespaces ? "/slot" : launch.slot_directory.string();
    io::ProcessSpec spec = common_spec(launch, settings_.priority, slot);
    spec.working_directory = namespaces ? io::Path("/") : launch.slot_directory;
    const unsigned user = user_of(launch.slot);
    if (superuser_ && ::chown(launch.slot_directory.c_str(), user, user) != 0)
      return Error{ErrorKind::io, "cannot give " + launch.slot_directory.string() + " to the kernels' user"};
    // So that it can save its item again. Not followed: an earlier kernel may have made it a link.
    if (const io::Path saved = launch.slot_directory / "checkpoint";
        superuser_ && ::lchown(saved.c_str(), user, user) != 0 && errno != ENOENT)
      return Error{ErrorKind::io, "cannot give " + saved.string() + " to the kernels' user"};
    spec.relays_exit = true;
    spec.arguments = {settings_.helper.string(), "enter"};
    const bool scratch = has_scratch(launch);
    const std::int64_t memory = host::kernel_memory_max(launch.memory_bytes, launch.threads);
    if (cgroups_)
      for (const io::Path& group : cgroups_->prepare(launch.slot, memory + (scratch ? launch.disk_bytes : 0),
                                                     host::kernel_tasks_max(launch.threads)))
        append(spec.arguments, {"--cgroup", group.string()});
    spec.arguments.emplace_back("--");
    const auto files = runtime_files(launch.program);
    if (namespaces) append(spec.arguments, bubblewrap(launch, files));
    append(spec.arguments, {namespaces ? inner_helper : settings_.helper.string(), "confine"});
    if (superuser_) append(spec.arguments, {"--user", std::to_string(user)});
    append(spec.arguments, {"--processes", std::to_string(processes_max(launch))});
    if (scratch) append(spec.arguments, {"--scratch", std::to_string(launch.disk_bytes)});
    if (memory_counted()) append(spec.arguments, {"--counted", "yes"});
    append(spec.arguments, readable(launch, files));
    for (const char* device : devices) append(spec.arguments, {"--device", device});
    if (memory_counted()) append(spec.arguments, {"--device", zero_device});
    append(spec.arguments, {"--write", slot, "--"});
    append(spec.arguments, program(launch));
    return spec;
  }

  io::Path inside(const host::KernelLaunch& launch, const io::Path& problem) const override {
    if (!walls_.namespaces) return problem;
    return "/problems" / problem.lexically_relative(launch.problems_directory);
  }

  // In the supervisor's view: it is there as long as the kernel, and has no other child of bubblewrap beside
  // it.
  io::Path written_by(const host::KernelLaunch& launch, const io::Process& process) const override {
    if (!has_scratch(launch)) return launch.slot_directory;
    const std::vector<int> all = io::ProcessTree().processes(process.pid());
    const int supervisor = all.size() > 1 ? all[1] : process.pid();
    return io::Path("/proc") / std::to_string(supervisor) / "root/slot";
  }

  bool out_of_memory(int slot) const override { return cgroups_ && cgroups_->out_of_memory(slot); }

  std::string describe() const override {
    std::string text = !walls_.namespaces
                           ? "Landlock and a system-call filter, without namespaces (" + why_no_namespaces_ +
                                 "), as its owner accepts: names, sizes and times of files are not hidden"
                           : "namespaces without network, a file system of its own" +
                                 std::string(walls_.scratch ? ", a slot in memory" : "") +
                                 std::string(landlock_ > 0 ? ", Landlock" : "") + ", a system-call filter";
    text += ", limits on memory, processes, files and disk";
    if (cgroups_ && !cgroups_->none()) text += ", " + cgroups_->describe();
    if (superuser_) text += ", users of their own";
    return text + (settings_.priority == Priority::idle ? ", lowest priority" : "");
  }

  // Runs the whole way in with a program that tries the walls. Empty if they hold, else what stands against
  // it.
  [[nodiscard]] std::string check(io::ProcessRunner& processes) {
    checking_ = true;
    host::KernelLaunch launch;
    const io::Path place = settings_.state_root / "slots" / "check";
    launch.bundle_directory = place / "bundle";
    launch.problems_directory = place / "problems";
    launch.slot_directory = place / "slot";
    launch.program = settings_.helper;
    launch.memory_bytes = 64 << 20;
    launch.disk_bytes = 1 << 20;
    std::error_code error;
    for (const io::Path& directory :
         {launch.bundle_directory, launch.problems_directory, launch.slot_directory})
      std::filesystem::create_directories(directory, error);
    // Where no namespace hides it, a file of the owner's.
    if (!io::real_files().write(foreign_file(), "", io::Mode::secret).ok())
      return "its state cannot be written";
    const std::string trouble = run_check(processes, launch);
    (void)io::real_files().remove_all(place);  // the next start tries again
    checking_ = false;
    return trouble;
  }

  void say_why_no_namespaces(std::string reason) { why_no_namespaces_ = std::move(reason); }

 private:
  static void append(std::vector<std::string>& all, const std::vector<std::string>& more) {
    all.insert(all.end(), more.begin(), more.end());
  }

  [[nodiscard]] bool has_scratch(const host::KernelLaunch& launch) const {
    static const std::int64_t memory =
        static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE);
    return walls_.scratch && launch.disk_bytes > 0 &&
           launch.disk_bytes <= std::min(scratch_bytes_max, memory / scratch_memory_part);
  }

  [[nodiscard]] bool memory_counted() const { return cgroups_ && cgroups_->count_memory(); }
  [[nodiscard]] io::Path foreign_file() const { return settings_.state_root / "slots/check/foreign"; }

  // A user that no account has; each slot its own, so that kernels are strangers to each other.
  [[nodiscard]] unsigned user_of(int slot) const {
    constexpr unsigned count = own_users_end - own_users_begin;
    unsigned user = own_users_begin + (first_user_ - own_users_begin + static_cast<unsigned>(slot)) % count;
    for (unsigned tries = 0; tries < count && ::getpwuid(user) != nullptr; ++tries)
      user = own_users_begin + (user - own_users_begin + 1) % count;
    return user;
  }

  // The system counts tasks by user: in a user namespace, or as a user of its own, the sandbox's alone; else
  // all that this user runs elsewhere count too.
  [[nodiscard]] int processes_max(const host::KernelLaunch& launch) const {
    const int own = host::kernel_tasks_max(launch.threads);
    if (superuser_ || walls_.namespaces) return own;
    return own + tasks_of_this_user();
  }

  static int tasks_of_this_user() {
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

  [[nodiscard]] std::vector<std::string> bubblewrap(const host::KernelLaunch& launch,
                                                    const std::vector<RuntimeFile>& files) const {
    Mounts mounts;
    mounts.add({settings_.bubblewrap.string(), "--unshare-pid", "--unshare-net", "--unshare-ipc",
                "--unshare-uts", "--unshare-cgroup-try", "--die-with-parent", "--as-pid-1", "--hostname",
                "gleaner", "--cap-drop", "ALL"});
    // As the superuser no user namespace is needed, and the way to the state is open to it alone; what is
    // left of its rights is what gleaner-sandbox needs to become another user.
    if (superuser_) {
      mounts.add({"--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"});
    } else {
      mounts.add({"--unshare-user"});
    }
    if (has_scratch(launch)) mounts.add({"--cap-add", "CAP_SYS_ADMIN"});  // to mount it
    for (const RuntimeFile& file : files) {
      if (file.link.empty())
        mounts.bind("--ro-bind", file.path, file.path);
      else
        mounts.link(file.link, file.path);
    }
    if (walls_.proc) mounts.add({"--proc", "/proc"});
    for (const char* device : devices) mounts.bind("--dev-bind", device, device);
    if (memory_counted()) mounts.bind("--dev-bind", zero_device, zero_device);
    mounts.bind("--ro-bind", settings_.helper, inner_helper);
    mounts.bind("--ro-bind", launch.bundle_directory, "/app");
    mounts.bind("--ro-bind", launch.problems_directory, "/problems");
    mounts.bind("--bind", launch.slot_directory, "/slot");
    mounts.link("/slot", "/tmp");
    mounts.add({"--chdir", "/slot", "--remount-ro", "/", "--"});
    return std::move(mounts.arguments);
  }

  [[nodiscard]] std::vector<std::string> readable(const host::KernelLaunch& launch,
                                                  const std::vector<RuntimeFile>& files) const {
    std::vector<std::string> all;
    for (const RuntimeFile& file : files)
      if (file.link.empty()) append(all, {"--read", file.path.string()});
    if (!walls_.namespaces)
      append(all, {"--read", launch.bundle_directory.string(), "--read", launch.problems_directory.string()});
    else
      append(all, {"--read", "/app", "--read", "/problems", "--read", "/proc"});
    if (checking_) append(all, {"--read", program(launch).front()});
    return all;
  }

  [[nodiscard]] std::vector<std::string> program(const host::KernelLaunch& launch) const {
    if (checking_)
      return {walls_.namespaces ? inner_helper : settings_.helper.string(), "check", "/etc/shadow",
              foreign_file().string()};
    if (!walls_.namespaces) return {launch.program.string()};
    return {("/app" / launch.program.lexically_relative(launch.bundle_directory)).string()};
  }

  std::string run_check(io::ProcessRunner& processes, const host::KernelLaunch& launch) {
    const auto spec = confine(launch);
    if (!spec.ok()) return spec.error().message;
    const auto started = processes.start(*spec);
    if (!started.ok()) return started.error().message;
    io::Process& process = **started;
    Bytes said;
    std::string trouble;
    for (Duration waited{0}; waited < check_patience; waited += std::chrono::milliseconds{2}) {
      if (said.empty() && process.read_some(said, sizeof "ready") == io::ReadKind::data) {
        if (!io::real_files().exists(written_by(launch, process) / "gleaner-sandbox-check"))
          trouble = "what it writes cannot be read";
        process.close_input();
      }
      if (const auto exit = process.poll_exit()) {
        if (!exit->signalled && exit->code == 0) return trouble;
        std::string words = process.error_tail();
        words = words.substr(0, words.find_last_not_of('\n') + 1);
        std::replace(words.begin(), words.end(), '\n', ';');
        return words.empty() ? exit->describe() : words;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds{2});
    }
    return "it did not answer";
  }

  SandboxSettings settings_;
  Walls walls_;
  int landlock_;
  bool superuser_;
  unsigned first_user_ = own_users_begin;
  std::unique_ptr<Cgroups> cgroups_;
  std::string why_no_namespaces_;
  bool checking_ = false;
};

class RefusingSandbox final : public Sandbox {
 public:
  explicit RefusingSandbox(std::string reason, const char* words = sandbox_off)
      : reason_(std::move(reason)), words_(words) {}
  Result<io::ProcessSpec> confine(const host::KernelLaunch&) override {
    return Error{ErrorKind::io, refusal()};
  }
  std::string describe() const override { return "none can be made: " + reason_; }
  std::string refusal() const override {
    return "kernels cannot be confined on this computer (" + reason_ +
           "): install bubblewrap, or accept the risk with sandbox = \"" + words_ + "\"";
  }

 private:
  std::string reason_;
  std::string words_;
};

}  // namespace

std::unique_ptr<Sandbox> make_sandbox(const SandboxSettings& wanted, io::ProcessRunner& processes) {
  SandboxSettings settings = wanted;
  if (settings.helper.empty()) settings.helper = find_helper("gleaner-sandbox");
  if (settings.helper.empty())
    return std::make_unique<RefusingSandbox>("the program gleaner-sandbox is missing beside gleaner-client");
  if (settings.bubblewrap.empty()) settings.bubblewrap = find_bubblewrap();
  if (settings.bubblewrap == "none") settings.bubblewrap.clear();
  const int landlock = settings.landlock.value_or(landlock_version());
  std::string reason;
  if (settings.bubblewrap.empty()) reason = "bubblewrap is not installed: apt install bubblewrap";
  for (const Walls& walls : with_namespaces) {
    if (settings.bubblewrap.empty()) break;
    auto sandbox = std::make_unique<LinuxSandbox>(settings, walls, landlock);
    const std::string trouble = sandbox->check(processes);
    if (trouble.empty()) return sandbox;
    if (reason.empty()) reason = trouble;
  }
  if (landlock < landlock_needed)
    return std::make_unique<RefusingSandbox>(
        reason + (landlock == 0 ? "; and this system has no Landlock"
                                : "; and this system's Landlock is too old: Linux 6.2 has a newer one"));
  if (!settings.accept_weak) return std::make_unique<RefusingSandbox>(reason, sandbox_weak);
  auto sandbox = std::make_unique<LinuxSandbox>(settings, landlock_alone, landlock);
  sandbox->say_why_no_namespaces(reason);
  const std::string trouble = sandbox->check(processes);
  if (trouble.empty()) return sandbox;
  return std::make_unique<RefusingSandbox>(reason + "; and with Landlock alone: " + trouble);
}

}  // namespace gleaner::platform
