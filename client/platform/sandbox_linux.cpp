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

namespace gleaner::platform {
namespace {

constexpr Duration check_patience = std::chrono::seconds{10};
// What systemd hands out to services without a user of their own, and nothing else may use.
constexpr unsigned own_users_begin = 61184, own_users_end = 65520;
constexpr const char* devices[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"};
constexpr const char* inner_helper = "/gleaner-sandbox";

enum class Walls { namespaces, namespaces_without_proc, landlock };

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
    const bool namespaces = walls_ != Walls::landlock;
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
    if (cgroups_)
      for (const io::Path& group :
           cgroups_->prepare(launch.slot, host::kernel_memory_max(launch.memory_bytes, launch.threads),
                             host::kernel_tasks_max(launch.threads)))
        append(spec.arguments, {"--cgroup", group.string()});
    spec.arguments.emplace_back("--");
    const auto files = runtime_files(launch.program);
    if (namespaces) append(spec.arguments, bubblewrap(launch, files));
    append(spec.arguments, {namespaces ? inner_helper : settings_.helper.string(), "confine"});
    if (superuser_) append(spec.arguments, {"--user", std::to_string(user)});
    append(spec.arguments, {"--processes", std::to_string(processes_max(launch))});
    append(spec.arguments, readable(launch, files));
    for (const char* device : devices) append(spec.arguments, {"--device", device});
    append(spec.arguments, {"--write", slot, "--"});
    append(spec.arguments, program(launch));
    return spec;
  }

  io::Path inside(const host::KernelLaunch& launch, const io::Path& problem) const override {
    if (walls_ == Walls::landlock) return problem;
    return "/problems" / problem.lexically_relative(launch.problems_directory);
  }

  bool out_of_memory(int slot) const override { return cgroups_ && cgroups_->out_of_memory(slot); }

  std::string describe() const override {
    std::string text =
        walls_ == Walls::landlock
            ? "Landlock and a system-call filter, without namespaces (" + why_no_namespaces_ + ")"
            : "namespaces without network, a file system of its own" +
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
    const std::string trouble = run_check(processes, launch);
    std::filesystem::remove_all(place, error);
    checking_ = false;
    return trouble;
  }

  void say_why_no_namespaces(std::string reason) { why_no_namespaces_ = std::move(reason); }

 private:
  static void append(std::vector<std::string>& all, const std::vector<std::string>& more) {
    all.insert(all.end(), more.begin(), more.end());
  }

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
    if (superuser_ || walls_ != Walls::landlock) return own;
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
    for (const RuntimeFile& file : files) {
      if (file.link.empty())
        mounts.bind("--ro-bind", file.path, file.path);
      else
        mounts.link(file.link, file.path);
    }
    if (walls_ == Walls::namespaces) mounts.add({"--proc", "/proc"});
    for (const char* device : devices) mounts.bind("--dev-bind", device, device);
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
    if (walls_ == Walls::landlock)
      append(all, {"--read", launch.bundle_directory.string(), "--read", launch.problems_directory.string()});
    else
      append(all, {"--read", "/app", "--read", "/problems", "--read", "/proc"});
    if (checking_) append(all, {"--read", program(launch).front()});
    return all;
  }

  [[nodiscard]] std::vector<std::string> program(const host::KernelLaunch& launch) const {
    if (checking_)
      return {walls_ == Walls::landlock ? settings_.helper.string() : inner_helper, "check", "/etc/shadow",
              (settings_.state_root / "projects").string()};
    if (walls_ == Walls::landlock) return {launch.program.string()};
    return {("/app" / launch.program.lexically_relative(launch.bundle_directory)).string()};
  }

  std::string run_check(io::ProcessRunner& processes, const host::KernelLaunch& launch) {
    const auto spec = confine(launch);
    if (!spec.ok()) return spec.error().message;
    const auto started = processes.start(*spec);
    if (!started.ok()) return started.error().message;
    io::Process& process = **started;
    for (Duration waited{0}; waited < check_patience; waited += std::chrono::milliseconds{2}) {
      if (const auto exit = process.poll_exit()) {
        if (!exit->signalled && exit->code == 0) return {};
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
  explicit RefusingSandbox(std::string reason) : reason_(std::move(reason)) {}
  Result<io::ProcessSpec> confine(const host::KernelLaunch&) override {
    return Error{ErrorKind::io, refusal()};
  }
  std::string describe() const override { return "none can be made: " + reason_; }
  std::string refusal() const override {
    return "kernels cannot be confined on this computer (" + reason_ +
           "): install bubblewrap, or accept the risk with " + "sandbox = \"" + sandbox_off + "\"";
  }

 private:
  std::string reason_;
};

}  // namespace

std::unique_ptr<Sandbox> make_sandbox(const SandboxSettings& wanted, io::ProcessRunner& processes) {
  SandboxSettings settings = wanted;
  if (settings.helper.empty()) settings.helper = find_helper("gleaner-sandbox");
  if (settings.helper.empty())
    return std::make_unique<RefusingSandbox>("the program gleaner-sandbox is missing beside gleaner-client");
  if (settings.bubblewrap.empty()) settings.bubblewrap = find_bubblewrap();
  if (settings.bubblewrap == "none") settings.bubblewrap.clear();
  const int landlock = landlock_version();
  std::string reason = "bubblewrap is not installed: apt install bubblewrap";
  for (const Walls walls : {Walls::namespaces, Walls::namespaces_without_proc}) {
    if (settings.bubblewrap.empty()) break;
    auto sandbox = std::make_unique<LinuxSandbox>(settings, walls, landlock);
    const std::string trouble = sandbox->check(processes);
    if (trouble.empty()) return sandbox;
    if (walls == Walls::namespaces) reason = trouble;
  }
  if (landlock == 0) return std::make_unique<RefusingSandbox>(reason + "; and this system has no Landlock");
  auto sandbox = std::make_unique<LinuxSandbox>(settings, Walls::landlock, landlock);
  sandbox->say_why_no_namespaces(reason);
  const std::string trouble = sandbox->check(processes);
  if (trouble.empty()) return sandbox;
  return std::make_unique<RefusingSandbox>(reason + "; and with Landlock alone: " + trouble);
}

}  // namespace gleaner::platform
