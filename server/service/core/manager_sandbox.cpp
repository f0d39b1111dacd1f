#include "server/service/core/manager_sandbox.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "shared/bundle/wrap.h"
#include "shared/io/process_tree.h"
#include "shared/io/run_program.h"
#include "shared/sandbox/usage.h"

namespace gleaner::service {
namespace {

constexpr int processes_max = 64;  // threads count
constexpr std::int64_t files_max = 100'000;
constexpr int open_files_max = 1024;
constexpr std::int64_t spared_bytes = 64 << 20;  // are not what fills a disk

std::string mebibytes(std::int64_t bytes) {
  return std::to_string(bytes >> 20) + " MiB";
}

// What it works on, seen where it is.
sandbox::Place as_it_is(const io::Path& path) {
  return {path, path};
}

}  // namespace

ManagerSandbox::ManagerSandbox(ProjectDirectory directory, const Configuration& configuration,
                               io::ProcessRunner& processes)
    : directory_(std::filesystem::absolute(directory.root())),
      memory_bytes_(configuration.manager_memory_megabytes << 20),
      disk_bytes_(configuration.manager_disk_megabytes << 20),
      reserve_bytes_(configuration.disk_reserve_megabytes << 20),
      off_(configuration.manager_sandbox == manager_sandbox_off),
      superuser_(::geteuid() == 0),
      processes_(processes) {
  if (off_) return;
  tools_ = {io::find_helper("gleaner-sandbox", "gleaner-server"), sandbox::find_bubblewrap()};
  if (tools_.helper.empty()) {
    found_.reason = "the program gleaner-sandbox is missing beside gleaner-server";
    return;
  }
  look();
}

void ManagerSandbox::look() const {
  found_ = sandbox::find_walls(tools_, sandbox::landlock_version(), sandbox::LandlockAlone::accepted,
                               [this](const sandbox::Walls& walls) { return attempt(walls); });
}

std::string ManagerSandbox::describe() const {
  if (off_) return "managers are not confined, as server.toml accepts";
  const std::lock_guard lock(mutex_);
  if (!found_.walls) return refusal_of_found();
  return std::string("managers are confined by ") +
         (found_.walls->namespaces ? "namespaces without network, a file system of their own, "
                                   : "Landlock without namespaces (" + found_.reason + "), ") +
         "a system-call filter, limits on memory, processes, files and disk" +
         (superuser_ ? ", users of their own" : "");
}

std::string ManagerSandbox::refusal() const {
  const std::lock_guard lock(mutex_);
  return refusal_of_found();
}

std::string ManagerSandbox::refusal_of_found() const {
  if (off_ || found_.walls) return {};
  return "managers cannot be confined on this computer (" + found_.reason +
         "), so none is started: " + found_.remedy +
         ", or accept the risk in server.toml with [managers] sandbox = \"" + manager_sandbox_off + "\"";
}

Result<io::ProcessSpec> ManagerSandbox::confine(const ManagerSetup& setup) const {
  std::optional<sandbox::Walls> walls;
  {
    const std::lock_guard lock(mutex_);
    if (disk_in_the_way_) look();
    if (const std::string reason = refusal_of_found(); !reason.empty())
      return Error{disk_in_the_way_ ? ErrorKind::io : ErrorKind::unavailable, reason};
    walls = found_.walls;
  }
  const io::Path base = directory_.problem(setup.problem);
  const io::Path bundle = directory_.bundle(setup.archive);
  const io::Path program = bundle / setup.program;
  if (off_) {
    io::ProcessSpec spec = spec_for(base / "work");
    spec.arguments = {program.string()};
    return spec;
  }
  TRY(give_to_its_user(base / "work", setup.problem.value));
  sandbox::Confined confined;
  confined.program = {program.string()};
  const io::Path compare = bundle::compare_program(bundle);
  confined.runtime = sandbox::runtime_files_of({program, compare.empty() ? program : compare},
                                               sandbox::Runtime::installed);  // by the server's operator
  confined.readable = {as_it_is(bundle), as_it_is(base / "problem")};
  confined.writable = as_it_is(base / "work");
  if (superuser_) confined.user = sandbox::own_user(directory_.root(), setup.problem.value);
  return confined_spec(*walls, std::move(confined));
}

std::string ManagerSandbox::excess(ProblemId problem, const io::Process& process) const {
  const io::Path work = directory_.problem(problem) / "work";
  const io::ProcessTree tree;
  const auto files = sandbox::directory_usage(work, files_max);
  const auto unseen = sandbox::descriptor_use(tree.processes(process.tree()), "/proc", work);
  if (files.bytes + unseen.removed_bytes > disk_bytes_)
    return "wrote more than the " + mebibytes(disk_bytes_) +
           " that [managers] disk_megabytes in server.toml allows";
  if (files.files >= files_max) return "made " + std::to_string(files_max) + " files";
  if (files.hidden) return "made directories that cannot be read, or very deep ones";
  if (unseen.removed_mappings) return "maps files that it has removed";
  if (tree.use(process.tree()).memory_bytes > memory_bytes_)
    return "took more than the " + mebibytes(memory_bytes_) +
           " of memory that [managers] memory_megabytes in server.toml allows";
  const auto free = io::real_files().free_bytes(work);
  if (files.bytes > spared_bytes && free.ok() && *free < reserve_bytes_)
    return "had to be ended: the server's disk is nearly full";
  return {};
}

std::string ManagerSandbox::attempt(const sandbox::Walls& walls) const {
  disk_in_the_way_ = true;  // until the directory is there
  const auto confine = [&](const sandbox::Trial& trial) -> Result<io::ProcessSpec> {
    TRY(give_to_its_user(trial.directory, 0));
    disk_in_the_way_ = false;
    sandbox::Confined confined;
    confined.program = trial.program;
    confined.runtime = sandbox::runtime_files(tools_.helper, sandbox::Runtime::promised);
    confined.writable = as_it_is(trial.directory);
    if (superuser_) confined.user = sandbox::own_user(directory_.root(), 0);
    return confined_spec(walls, std::move(confined));
  };
  return sandbox::try_walls(processes_, io::real_files(), tools_, walls,
                            directory_.root() / "problems" / "check", {confine});
}

io::ProcessSpec ManagerSandbox::spec_for(const io::Path& work) const {
  io::ProcessSpec spec;
  spec.environment = {
      {"PATH", "/usr/bin:/bin"}, {"LANG", "C.UTF-8"}, {"HOME", work.string()}, {"TMPDIR", work.string()}};
#ifdef GLEANER_SANITIZED  // AddressSanitizer reserves terabytes of address space, and looks for leaks by
                          // ptrace
  spec.environment.emplace("ASAN_OPTIONS", "detect_leaks=0");
#else
  spec.limits.memory_bytes = memory_bytes_;
#endif
  spec.limits.file_bytes = disk_bytes_;
  spec.limits.open_files = open_files_max;
  spec.limits.priority = io::ProcessPriority::low;  // answering volunteers comes first
  spec.working_directory = work;
  return spec;
}

io::ProcessSpec ManagerSandbox::confined_spec(const sandbox::Walls& walls, sandbox::Confined confined) const {
  io::ProcessSpec spec = spec_for(confined.writable.outside);
  confined.processes = processes_max;
  spec.arguments = sandbox::command_line(tools_, walls, confined);
  spec.relays_exit = true;
  return spec;
}

// The directory last: as long as it is not theirs, no manager has been at work in it, and what lies there is
// what an older server's left. Links are changed themselves.
Status ManagerSandbox::give_to_its_user(const io::Path& work, std::int64_t number) const {
  if (!superuser_) return {};
  const unsigned user = sandbox::own_user(directory_.root(), number);
  struct stat facts {};
  if (::lstat(work.c_str(), &facts) == 0 && facts.st_uid == user) return {};
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator entry(work, error), end; !error && entry != end;
       entry.increment(error))
    if (::lchown(entry->path().c_str(), user, user) != 0)
      return Error{ErrorKind::io, "cannot give " + entry->path().string() + " to the manager's user"};
  if (error || ::lchown(work.c_str(), user, user) != 0)
    return Error{ErrorKind::io, "cannot give " + work.string() + " to the manager's user"};
  return {};
}

}  // namespace gleaner::service
