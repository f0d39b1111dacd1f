#include "tools/local/wrapping.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <thread>

#include "shared/base/limits.h"
#include "shared/bundle/manifest.h"
#include "shared/json/text.h"
#include "shared/sandbox/elf_file.h"
#include "shared/sandbox/runtime_files.h"
#include "tools/local/foreign.h"
#include "tools/local/libraries.h"
#include "tools/local/local_bundle.h"
#include "tools/local/templates.h"

namespace gleaner::local {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t listing_bytes_max = 1 << 20;
constexpr std::chrono::seconds listing_time_max{30};

Error failed(const std::string& what, const io::Path& path, const std::error_code& failure) {
  return {ErrorKind::io, what + " " + path.string() + ": " + failure.message()};
}

// Links become what they lead to.
Status bring(const io::Path& from, const io::Path& to) {
  std::error_code failure;
  fs::create_directories(to.parent_path(), failure);
  if (!failure) fs::copy(from, to, fs::copy_options::recursive, failure);
  if (failure) return failed("cannot copy", from, failure);
  return {};
}

using Environment = std::map<std::string, std::string>;

// What a program prints; its exit status is not asked.
Result<std::string> listing(io::ProcessRunner& processes, std::vector<std::string> arguments,
                            const Environment& more = {}) {
  io::ProcessSpec spec;
  spec.arguments = std::move(arguments);
  spec.environment = {{"PATH", "/usr/bin:/bin:/usr/sbin:/sbin"}, {"LC_ALL", "C"}};
  for (const auto& [name, value] : more) spec.environment[name] = value;
  TRY_ASSIGN(const auto process, processes.start(spec));
  process->close_input();
  Bytes text;
  const auto end = std::chrono::steady_clock::now() + listing_time_max;
  while (text.size() < listing_bytes_max && std::chrono::steady_clock::now() < end) {
    const io::ReadKind read = process->read_some(text, listing_bytes_max - text.size());
    if (read == io::ReadKind::closed) return text;
    if (read == io::ReadKind::would_block) std::this_thread::sleep_for(std::chrono::milliseconds{5});
  }
  return Error{ErrorKind::io, spec.arguments.front() + " did not come to an end"};
}

struct SharedLibraries {
  io::Path loader;
  std::vector<io::Path> files;
};

// As `ldd` lists them: "libz.so.1 => /lib/libz.so.1 (0x...)", and the loader without an arrow.
Result<SharedLibraries> shared_libraries(io::ProcessRunner& processes, const WrapPlan& plan,
                                         const io::Path& program) {
  Environment more;
  if (!plan.library_path.empty()) more["LD_LIBRARY_PATH"] = plan.library_path;
  TRY_ASSIGN(const std::string text, listing(processes, {"/usr/bin/ldd", program.string()}, more));
  SharedLibraries found;
  std::string missing;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    line.erase(0, line.find_first_not_of(" \t"));
    const std::size_t arrow = line.find(" => ");
    std::string path = arrow == std::string::npos ? line : line.substr(arrow + 4);
    if (path.starts_with("not found")) {
      missing += (missing.empty() ? "" : ", ") + line.substr(0, arrow);
      continue;
    }
    path = path.substr(0, path.find(" ("));
    if (path.find('/') == std::string::npos) continue;  // linux-vdso.so.1 is the kernel's
    if (arrow == std::string::npos)
      found.loader = path;
    else
      found.files.emplace_back(path);
  }
  if (!missing.empty())
    return Error{ErrorKind::not_found,
                 program.string() + " does not find " + missing +
                     ": install what is missing, or name its directory in LD_LIBRARY_PATH"};
  return found;
}

// The Debian packages that the files are of, as far as they are of one.
std::set<std::string> packages_of(io::ProcessRunner& processes, const std::vector<io::Path>& paths) {
  std::vector<std::string> arguments{"/usr/bin/dpkg-query", "-S"};
  for (const io::Path& path : paths) {
    // A package may know the file by the directory that /lib leads to, or by the one that leads there.
    const std::string file = path.string();
    arguments.push_back(file);
    arguments.push_back(file.starts_with("/usr/") ? file.substr(4) : "/usr" + file);
  }
  std::set<std::string> packages;
  const auto text = listing(processes, arguments);
  if (!text.ok()) return packages;  // another distribution
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);)
    if (const std::size_t colon = line.find(':'); colon != std::string::npos)
      packages.insert(line.substr(0, colon));
  return packages;
}

Status copy_libraries(io::ProcessRunner& processes, const WrapPlan& plan, const Bytes& program,
                      const io::Path& into, WrappedBundle& made, std::vector<std::string>& command) {
  TRY_ASSIGN(SharedLibraries libraries, shared_libraries(processes, plan, plan.program));
  const std::string named = sandbox::needed_loader(program);
  if (libraries.loader.empty() && !named.empty())
    return Error{ErrorKind::not_found, plan.program.string() + " is started by " + named +
                                           ", which this computer lacks: wrap it where it runs"};
  if (libraries.loader.empty())
    return Error{ErrorKind::invalid, plan.program.string() +
                                         " is no program that needs shared libraries: leave "
                                         "--bundle-libraries out"};
  const std::string loader = "lib/" + libraries.loader.filename().string();
  command = {loader,
             "--inhibit-cache",
             "--library-path",
             "{bundle}/lib",
             "--argv0",
             command.front(),
             "{bundle}/" + command.front()};
  std::vector<io::Path> all = libraries.files;
  all.push_back(libraries.loader);
  for (const io::Path& opened : plan.opened) {
    TRY_ASSIGN(const SharedLibraries more, shared_libraries(processes, plan, opened));
    all.push_back(opened);
    all.insert(all.end(), more.files.begin(), more.files.end());
  }
  std::set<std::string> names;
  std::erase_if(all, [&](const io::Path& file) { return !names.insert(file.filename().string()).second; });
  for (const io::Path& file : all) {
    TRY(bring(file, into / "lib" / file.filename()));
    made.libraries.push_back(file.filename().string());
  }
  all.push_back(plan.program);
  for (const std::string& package : packages_of(processes, all)) {
    const io::Path copyright = io::Path("/usr/share/doc") / package / "copyright";
    std::error_code absent;
    if (!fs::exists(copyright, absent)) continue;
    TRY(bring(copyright, into / "licences" / package));
    made.licences.push_back(package);
  }
  return {};
}

// What to do about a script that no small shell runs.
std::string advice_for(const std::string& interpreter) {
  const std::string name = io::Path(interpreter).filename().string();
  if (name.starts_with("python")) return "write a kernel (`app new --language python`)";
  if (name.ends_with("sh")) return "write it for #!/bin/sh, and take a small shell along with --shell";
  return "wrap " + name + " with --bundle-libraries, and take the script along with --data";
}

Status copy_shell(const io::Files& files, const WrapPlan& plan, const std::vector<std::string>& interpreter,
                  const io::Path& into, std::vector<std::string>& command) {
  if (io::Path(interpreter.front()).filename() != "sh")
    return Error{ErrorKind::invalid, plan.program.string() + " is a script for " + interpreter.front() +
                                         ", which volunteers' computers do not have for certain: " +
                                         advice_for(interpreter.front())};
  if (plan.shell.empty())
    return Error{ErrorKind::invalid,
                 plan.program.string() +
                     " is a script for the shell, which the sandbox does not have: --shell "
                     "takes a small one along"};
  TRY_ASSIGN(const Bytes shell, files.read(plan.shell, limits::bundle_bytes_max));
  if (!sandbox::needed_libraries(shell).empty())
    return Error{ErrorKind::invalid,
                 plan.shell.string() + " needs shared libraries: install the package busybox-static"};
  TRY(bring(plan.shell, into / "bin/busybox"));
  std::vector<std::string> words{"bin/busybox", "sh"};
  words.insert(words.end(), interpreter.begin() + 1, interpreter.end());
  words.push_back("{bundle}/" + command.front());
  command = std::move(words);
  return {};
}

std::string list_text(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + json::write(word);
  return "[" + text + "]";
}

// JSON's texts are TOML's, too.
std::string manifest_text(const WrapPlan& plan, const std::vector<std::string>& command, bool rows,
                          const std::string& compare) {
  std::string text = fmt::format(
      "manifest = 1\nname = {}\nversion = {}\ntitle = {}\n\n[wrap]\ncommand = {}\n", json::write(plan.name),
      json::write(plan.version), json::write(plan.title), list_text(command));
  if (!plan.suffix.empty()) text += fmt::format("suffix = {}\n", json::write(plan.suffix));
  if (rows) text += "rows = true\n";
  if (!plan.ignore.empty()) text += fmt::format("ignore = {}\n", list_text(plan.ignore));
  if (!compare.empty()) text += fmt::format("compare = {}\n", json::write(compare));
  if (!plan.numbers.empty()) text += "\n[wrap.numbers]\n";
  for (const auto& [name, expression] : plan.numbers)
    text += fmt::format("{} = {}\n", json::write(name), json::write(expression));
  text += fmt::format("\n[items]\nmeaning = {}\n\n[limits]\nmemory_megabytes = {}\n",
                      json::write(plan.meaning), plan.memory_megabytes);
  return text;
}

Result<std::int64_t> bundle_bytes(const io::Path& directory) {
  std::int64_t bytes = 0;
  std::error_code failure;
  for (fs::recursive_directory_iterator entry(directory, failure), end; !failure && entry != end;
       entry.increment(failure)) {
    std::error_code unknown;
    if (const auto size = entry->file_size(unknown); !unknown) bytes += static_cast<std::int64_t>(size);
  }
  if (failure) return failed("cannot look through", directory, failure);
  return bytes;
}

Result<WrappedBundle> fill(io::Files& files, io::ProcessRunner& processes, const WrapPlan& plan,
                           const io::Path& into) {
  WrappedBundle made;
  made.rows = names_columns(plan.arguments);
  TRY_ASSIGN(const Bytes program, files.read(plan.program, limits::bundle_bytes_max));
  const std::string file = "bin/" + plan.program.filename().string();
  TRY(bring(plan.program, into / file));
  std::vector<std::string> command{file};
  if (const auto interpreter = sandbox::script_command(program); !interpreter.empty()) {
    TRY(copy_shell(files, plan, interpreter, into, command));
  } else if (const std::string platform = platform_of(program); platform != this_platform()) {
    return Error{ErrorKind::invalid,
                 plan.program.string() +
                     (platform.empty() ? " is neither a program nor a script with a #! line"
                                       : " is a program for " + platform + ": wrap it on such a computer")};
  } else if (plan.libraries || !plan.opened.empty()) {
    TRY(copy_libraries(processes, plan, program, into, made, command));
  }
  command.insert(command.end(), plan.arguments.begin(), plan.arguments.end());
  for (const auto& [name, from] : plan.data) {
    const io::Path to = (into / name).lexically_normal();
    if (!to.string().starts_with(into.lexically_normal().string() + "/"))
      return Error{ErrorKind::invalid, "\"" + name + "\" is no path inside the bundle"};
    if (!files.exists(from)) return Error{ErrorKind::not_found, "there is no " + from.string()};
    if (files.exists(to)) return Error{ErrorKind::conflict, "two files are to be " + to.string()};
    TRY(bring(from, to));
  }
  const std::string compare = plan.compare.empty() ? "" : "bin/" + plan.compare.filename().string();
  if (!compare.empty()) {
    if (files.exists(into / compare))
      return Error{ErrorKind::conflict, "two files are to be " + (into / compare).string()};
    TRY(bring(plan.compare, into / compare));
    // An editor's file need not be executable; in a bundle a program is.
    std::error_code failure;
    std::filesystem::permissions(into / compare, std::filesystem::perms::owner_exec,
                                 std::filesystem::perm_options::add, failure);
    if (failure) return Error{ErrorKind::io, (into / compare).string() + ": " + failure.message()};
  }
  const std::string manifest = manifest_text(plan, command, made.rows, compare);
  TRY(bundle::parse_manifest(manifest, "manifest.toml"));
  TRY(files.write(into / "manifest.toml", manifest, io::Mode::normal));
  TRY_ASSIGN(const SystemNeeds needs, system_needs(files, into, {compare}));
  for (const MissingLibrary& each : needs.missing) made.missing.push_back(each.library);
  for (const NewerSymbol& each : needs.newer)
    if (each.client) made.missing.push_back(each.version + " (" + each.system + ")");
  TRY_ASSIGN(made.bytes, bundle_bytes(into));
  return made;
}

}  // namespace

bool names_columns(const std::vector<std::string>& arguments) {
  const auto is_column = [](const std::string& word) {
    return word != "in" && word != "bundle" && word != "out" && !word.starts_with("out.");
  };
  for (const std::string& argument : arguments) {
    for (std::size_t at = 0; at < argument.size(); ++at) {
      if (argument[at] != '{') continue;
      const std::size_t end = argument.find('}', at);
      if (argument.substr(at, 2) == "{{")
        ++at;
      else if (end != std::string::npos && is_column(argument.substr(at + 1, end - at - 1)))
        return true;
    }
  }
  return false;
}

Result<WrappedBundle> make_wrapped_bundle(io::Files& files, io::ProcessRunner& processes,
                                          const WrapPlan& plan, const io::Path& into) {
  TRY(check_application_name(plan.name));
  std::error_code unknown;
  if (fs::equivalent(into, plan.program, unknown))
    return Error{ErrorKind::conflict, into.string() + " is the program itself: name a directory with -o"};
  if (files.exists(into))
    return Error{ErrorKind::conflict,
                 into.string() + " is there already: name another directory with -o, or remove it"};
  auto made = fill(files, processes, plan, into);
  if (!made.ok()) {
    const Status removed = files.remove_all(into);
    if (!removed.ok()) return made.error().within(removed.error().message);
  }
  return made;
}

}  // namespace gleaner::local
