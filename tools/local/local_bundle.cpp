#include "tools/local/local_bundle.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "shared/bundle/bundle.h"
#include "shared/bundle/wrap.h"
#include "shared/io/held_file.h"
#include "shared/io/place_file.h"
#include "shared/json/text.h"

namespace gleaner::local {
namespace {

constexpr int manager_files_max = 1024;  // a segment each while it combines

// A program in a sandbox sees nothing behind a symbolic link. The superuser's programs run as a user of
// their own, who reads what everybody can: a copy, since the file may be for its owner only.
Status place_input(const io::Path& directory, const std::string& name, const io::Path& file, io::Place how) {
  const bool superuser = ::geteuid() == 0;
  std::error_code error;
  std::filesystem::remove(directory / name, error);
  const auto placed =
      io::place_file(std::filesystem::absolute(file), directory / name, superuser ? io::Place::copy : how);
  if (!placed.ok()) return placed.error().within("input " + name);
  using std::filesystem::perms;
  if (superuser)
    std::filesystem::permissions(directory / name, perms::group_read | perms::others_read,
                                 std::filesystem::perm_options::add, error);
  if (error) return Error{ErrorKind::io, "input " + name + ": " + error.message()};
  return {};
}

// Opened where it is now, not where its manager may have it lead meanwhile.
Status place_planned(const io::Path& directory, const Planned& planned) {
  std::error_code error;
  const io::Path base = std::filesystem::canonical(planned.directory, error);
  for (const auto& input : planned.inputs) {
    if (input.range && !planned.items.empty() && !input.range->overlaps(planned.items)) continue;
    const auto held = io::HeldFile::open_in(base, input.path.lexically_relative(base));
    if (!held.ok()) return held.error().within("input " + input.name + " of the plan");
    TRY(place_input(directory, input.name, held->path(), io::Place::copy));
  }
  return {};
}

}  // namespace

Result<LocalBundle> open_bundle(const io::Path& directory, const std::string& platform) {
  LocalBundle bundle;
  bundle.directory = std::filesystem::absolute(directory);
  TRY_ASSIGN(bundle.manifest, bundle::read_bundle(bundle.directory));
  const std::string kernel = bundle.manifest.kernel_for({platform});
  if (kernel.empty()) {
    std::string known;
    for (const auto& [each, file] : bundle.manifest.kernels) known += (known.empty() ? "" : ", ") + each;
    return Error{ErrorKind::not_found,
                 bundle.manifest.name + " has no kernel for " +
                     (platform == this_platform() ? "this machine (" + platform + ")" : platform) +
                     ", only for " + known + ": add one to its manifest"};
  }
  bundle.kernel = bundle.directory / kernel;
  bundle.manager = bundle.directory / bundle.manifest.manager;
  bundle.compare = bundle::compare_program(bundle.directory);
  return bundle;
}

io::ProcessSpec kernel_spec(const LocalBundle& bundle, const io::Path& directory, int threads,
                            const std::map<std::string, std::string>& environment) {
  io::ProcessSpec spec;
  if (bundle.emulator) spec.arguments = bundle.emulator->command;
  spec.arguments.push_back(bundle.kernel.string());
  spec.environment = environment;
  if (bundle.emulator)
    spec.environment.insert(bundle.emulator->environment.begin(), bundle.emulator->environment.end());
  spec.environment.insert({{"PATH", "/usr/bin:/bin"},
                           {"LANG", "C.UTF-8"},
                           {"HOME", directory.string()},
                           {"GLEANER_THREADS", std::to_string(threads)}});
  spec.working_directory = directory;
  // Wine writes files of its own, which are larger.
  if (!bundle.emulator || bundle.emulator->confinable) spec.limits.file_bytes = bundle.manifest.disk_bytes;
  return spec;
}

io::ProcessSpec manager_spec(const LocalBundle& bundle, const io::Path& directory) {
  io::ProcessSpec spec;
  spec.arguments = {bundle.manager.string()};
  spec.environment = {{"PATH", "/usr/bin:/bin"}, {"LANG", "C.UTF-8"}};
  spec.working_directory = directory;
  spec.limits.open_files = manager_files_max;
  return spec;
}

Status check_content(const LocalBundle& bundle, const Content& content) {
  std::vector<std::string> names;
  for (const auto& [name, path] : content.inputs) names.push_back(name);
  return bundle::check_problem(*bundle.manifest.form, json::parse_or_null(content.parameters), names);
}

Content seen_by_kernels(const LocalBundle& bundle, Content content) {
  if (bundle.manifest.keeps_inputs) content.inputs.clear();
  return content;
}

Status write_problem(io::Files& files, const io::Path& directory, const Content& content,
                     const std::optional<Planned>& planned) {
  TRY(files.make_directories(directory / "inputs"));
  TRY(files.write(directory / "parameters.json", content.parameters, io::Mode::normal));
  for (const auto& [name, path] : content.inputs) {
    if (!files.exists(path))
      return Error{ErrorKind::not_found, "there is no file " + path.string() + " (input " + name + ")"};
    TRY(place_input(directory / "inputs", name, path, io::Place::link_or_copy));
  }
  return planned ? place_planned(directory / "inputs", *planned) : Status{};
}

std::string this_platform() {
  utsname name{};
  CHECK_TRUE(::uname(&name) == 0);
  std::string system = name.sysname;
  for (char& c : system)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return std::string(name.machine) + "-" + system;
}

int cores_here() {
  return std::max(static_cast<int>(std::thread::hardware_concurrency()), 1);
}

Error local_error(const Error& error, const std::string& what) {
  return Error{error.kind == ErrorKind::unavailable ? ErrorKind::io : error.kind, error.message}.within(what);
}

}  // namespace gleaner::local
