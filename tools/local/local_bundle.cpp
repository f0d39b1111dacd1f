#include "tools/local/local_bundle.h"

#include <sys/utsname.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "shared/bundle/bundle.h"
#include "shared/json/text.h"

namespace gleaner::local {
namespace {

constexpr int manager_files_max = 1024;  // a segment each while it combines

Status link_input(const io::Path& directory, const std::string& name, const io::Path& target) {
  std::error_code failure;
  std::filesystem::remove(directory / name, failure);
  std::filesystem::create_symlink(std::filesystem::absolute(target), directory / name, failure);
  if (!failure) return {};
  return Error{ErrorKind::io,
               "cannot link input " + name + " into " + directory.string() + ": " + failure.message()};
}

}  // namespace

Result<LocalBundle> open_bundle(const io::Path& directory) {
  LocalBundle bundle;
  bundle.directory = std::filesystem::absolute(directory);
  TRY_ASSIGN(bundle.manifest, bundle::read_bundle(bundle.directory));
  const std::string kernel = bundle.manifest.kernel_for({this_platform(), "any"});
  if (kernel.empty())
    return Error{ErrorKind::not_found, bundle.manifest.name + " has no kernel for this machine (" +
                                           this_platform() +
                                           "): add one to its manifest, or run it elsewhere"};
  bundle.kernel = bundle.directory / kernel;
  bundle.manager = bundle.directory / bundle.manifest.manager;
  return bundle;
}

io::ProcessSpec kernel_spec(const LocalBundle& bundle, const io::Path& directory, int threads,
                            const std::map<std::string, std::string>& environment) {
  io::ProcessSpec spec;
  spec.arguments = {bundle.kernel.string()};
  spec.environment = environment;
  spec.environment.insert({{"PATH", "/usr/bin:/bin"},
                           {"LANG", "C.UTF-8"},
                           {"HOME", directory.string()},
                           {"GLEANER_THREADS", std::to_string(threads)}});
  spec.working_directory = directory;
  spec.limits.file_bytes = bundle.manifest.disk_bytes;
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
                     const std::vector<contract::PlannedInput>& planned, Range items) {
  TRY(files.make_directories(directory / "inputs"));
  TRY(files.write(directory / "parameters.json", content.parameters, io::Mode::normal));
  for (const auto& [name, path] : content.inputs) {
    if (!files.exists(path))
      return Error{ErrorKind::not_found, "there is no file " + path.string() + " (input " + name + ")"};
    TRY(link_input(directory / "inputs", name, path));
  }
  for (const auto& input : planned) {
    if (input.range && !items.empty() && !input.range->overlaps(items)) continue;
    TRY(link_input(directory / "inputs", input.name, input.path));
  }
  return {};
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
