#include "tools/local/confinement.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "shared/io/held_file.h"
#include "shared/io/place_file.h"
#include "shared/sandbox/kernel_limits.h"

namespace gleaner::local {
namespace {

using sandbox::Place;

constexpr const char* kernel_problem = "/problems/problem";
constexpr int manager_processes_max = 64;                           // as a server has it; threads count
constexpr std::int64_t manager_memory_max = std::int64_t{4} << 30;  // what servers allow by default
constexpr int check_processes_max = 32;
constexpr std::int64_t emulator_memory_max = std::int64_t{8} << 30;  // of address space, that it reserves

Place as_it_is(const io::Path& path) {
  return {path, path};
}

// Users of their own can read what everybody can, and write what is theirs.
Status give_to(unsigned user, const io::Path& directory) {
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error))
    if (::lchown(entry->path().c_str(), user, user) != 0)
      return Error{ErrorKind::io, "cannot give " + entry->path().string() + " to the sandbox's user"};
  if (error || ::lchown(directory.c_str(), user, user) != 0)
    return Error{ErrorKind::io, "cannot give " + directory.string() + " to the sandbox's user"};
  return {};
}

void bound_memory(io::ProcessSpec& spec, std::int64_t bytes) {
#ifdef GLEANER_SANITIZED  // AddressSanitizer reserves terabytes of address space, and looks for leaks by
                          // ptrace
  (void)bytes;
  spec.environment.emplace("ASAN_OPTIONS", "detect_leaks=0");
#else
  spec.limits.memory_bytes = bytes;
#endif
}

}  // namespace

Result<Confinement> Confinement::find(const sandbox::Tools& tools, io::ProcessRunner& processes,
                                      io::Files& files, const io::Path& place) {
  Confinement found;
  found.tools_ = tools;
  sandbox::Found walls;
  if (tools.helper.empty()) {
    walls.reason = "the program gleaner-sandbox is missing beside gleaner-admin";
  } else {
    walls = sandbox::find_walls(tools, sandbox::landlock_version(), sandbox::LandlockAlone::accepted,
                                [&](const sandbox::Walls& tried) {
                                  found.walls_ = tried;
                                  return found.attempt(processes, files, place);
                                });
  }
  if (!walls.walls)
    return Error{ErrorKind::io, "the bundle's programs cannot be confined on this computer (" + walls.reason +
                                    "), so none is started: " + walls.remedy +
                                    ", or accept the risk with --unconfined \"" + unconfined_words + "\""};
  found.walls_ = walls.walls;
  found.why_no_namespaces_ = walls.reason;
  return found;
}

std::string Confinement::describe() const {
  if (!walls_) return "not confined";
  return walls_->namespaces
             ? "namespaces without network, a file system of their own, a system-call filter, limits"
             : "Landlock and a system-call filter, limits";
}

std::string Confinement::weakness() const {
  if (!walls_) return "they run with your rights, and what they need need not be on volunteers' computers";
  if (walls_->namespaces) return {};
  return "names, sizes and times of your files are not hidden from them (" + why_no_namespaces_ + ")";
}

Result<io::ProcessSpec> Confinement::kernel(const LocalBundle& bundle, const Kernel& kernel) const {
  io::ProcessSpec spec = kernel_spec(bundle, kernel.directory, kernel.threads, kernel.environment);
  if (!walls_) return spec;
  bound_memory(spec, sandbox::kernel_memory_max(bundle.manifest.memory_bytes, kernel.threads) +
                         (bundle.emulator ? emulator_memory_max : 0));
  spec.limits.open_files = sandbox::kernel_open_files_max;
  const bool own_files = walls_->namespaces;
  const std::string home = own_files ? sandbox::kernel_slot : kernel.directory.string();
  spec.environment["HOME"] = spec.environment["TMPDIR"] = home;
  sandbox::Confined around;
  const io::Path program = bundle.kernel.lexically_relative(bundle.directory);
  if (bundle.emulator) around.program = bundle.emulator->command;
  around.program.push_back((own_files ? sandbox::kernel_bundle / program : bundle.kernel).string());
  around.runtime = sandbox::runtime_files(
      bundle.kernel, bundle.emulator ? sandbox::Runtime::installed : bundle.kernel_runtime());
  if (bundle.emulator)
    for (const io::Path& file : bundle.emulator->files) around.runtime.push_back({file});
  around.readable = {{bundle.directory, sandbox::kernel_bundle}, {kernel.problem, kernel_problem}};
  around.writable = {kernel.directory, sandbox::kernel_slot};
  around.tmp = true;
  around.processes = sandbox::kernel_tasks_max(kernel.threads);
  return confined(std::move(spec), std::move(around));
}

io::Path Confinement::inside(const io::Path& problem) const {
  return walls_ && walls_->namespaces ? io::Path(kernel_problem) : problem;
}

Result<io::ProcessSpec> Confinement::manager(const LocalBundle& bundle, const Manager& manager) const {
  io::ProcessSpec spec = manager_spec(bundle, manager.directory);
  if (!walls_) return spec;
  bound_memory(spec, manager_memory_max);
  spec.environment["HOME"] = spec.environment["TMPDIR"] = manager.directory.string();
  sandbox::Confined around;
  around.program = {bundle.manager.string()};
  around.runtime =
      sandbox::runtime_files_of({bundle.manager, bundle.compare.empty() ? bundle.manager : bundle.compare},
                                sandbox::Runtime::installed);  // as on a server
  around.readable = {as_it_is(bundle.directory), as_it_is(manager.problem), as_it_is(manager.segments)};
  around.writable = as_it_is(manager.directory);
  around.processes = manager_processes_max;
  return confined(std::move(spec), std::move(around));
}

Result<io::ProcessSpec> Confinement::confined(io::ProcessSpec spec, sandbox::Confined around) const {
  const io::Path directory = around.writable.outside;
  if (::geteuid() == 0) {
    around.user = sandbox::own_user(directory, 0);
    TRY(give_to(around.user, directory));
  }
  spec.arguments = sandbox::command_line(tools_, *walls_, around);
  spec.working_directory = walls_->namespaces ? io::Path("/") : directory;
  spec.relays_exit = true;
  return spec;
}

// A kernel's way in, with a program that tries the walls.
std::string Confinement::attempt(io::ProcessRunner& processes, io::Files& files,
                                 const io::Path& place) const {
  const auto confine = [this](const sandbox::Trial& trial) {
    sandbox::Confined around;
    around.program = trial.program;
    around.runtime = sandbox::runtime_files(tools_.helper, sandbox::Runtime::promised);
    around.writable = {trial.directory, sandbox::kernel_slot};
    around.processes = check_processes_max;
    return confined({}, std::move(around));
  };
  return sandbox::try_walls(processes, files, tools_, *walls_, place, {confine});
}

Status copy_work(const io::Path& from, const io::Path& to) {
  std::error_code error;
  std::filesystem::create_directories(to, error);
  for (std::filesystem::recursive_directory_iterator entry(from, error), end; !error && entry != end;
       entry.increment(error)) {
    const io::Path relative = entry->path().lexically_relative(from);
    const auto kind = entry->symlink_status(error).type();
    if (kind == std::filesystem::file_type::directory)
      std::filesystem::create_directory(to / relative, error);
    if (kind == std::filesystem::file_type::symlink)
      std::filesystem::copy_symlink(entry->path(), to / relative, error);
    if (kind != std::filesystem::file_type::regular) continue;
    // What it is now, and not what the program may put there meanwhile.
    TRY_ASSIGN(const auto held, io::HeldFile::open_in(from, relative));
    TRY(io::place_file(held.path(), to / relative, io::Place::copy));
  }
  if (error) return Error{ErrorKind::io, "cannot copy " + from.string() + ": " + error.message()};
  return {};
}

}  // namespace gleaner::local
