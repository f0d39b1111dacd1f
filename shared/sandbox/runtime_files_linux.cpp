#include "shared/sandbox/runtime_files.h"

#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <boost/interprocess/file_mapping.hpp>
#include <boost/interprocess/mapped_region.hpp>
#include <fstream>
#include <set>
#include <sstream>

#include "shared/io/distribution.h"
#include "shared/sandbox/elf_file.h"
#include "shared/sandbox/systems.h"

namespace gleaner::sandbox {
namespace {

constexpr int links_max = 16;  // in a chain; more is a loop
// In a directory of an interpreter's modules: those that somebody installed (Python; Debian calls it the
// first).
constexpr const char* installed_modules[] = {"dist-packages", "site-packages"};

class Collector {
 public:
  explicit Collector(io::Path root) : root_(std::move(root)) {}

  // A file or directory; if it is a link, the link and what it leads to.
  void add(const io::Path& path) {
    io::Path at = path;
    for (int links = 0; links < links_max; ++links) {
      std::error_code error;
      const io::Path real = root_ / at.relative_path();
      if (!std::filesystem::is_symlink(real, error)) {
        if (std::filesystem::exists(real, error)) take({at, {}});
        return;
      }
      const io::Path target = std::filesystem::read_symlink(real, error);
      if (error) return;
      take({at, target.string()});
      at = (at.parent_path() / target).lexically_normal();
    }
  }

  // Directories of `parent` whose names begin with `stem`: "python3", "python3.11".
  void add_family(const io::Path& parent, const std::string& stem, Runtime runtime) {
    std::vector<io::Path> members;
    for (const std::string& name : names_in(parent))
      if (name.starts_with(stem)) members.push_back(parent / name);
    for (const io::Path& member : members) {
      if (runtime != Runtime::promised)
        add(member);
      else
        add_own_modules(member);
    }
  }

  // A library with the links that lead to it. In a tree where /lib is a link it lies behind that.
  void add_library(const io::Path& path) {
    io::Path at = path;
    for (int links = 0; links < links_max && exists(at); ++links) {
      std::error_code error;
      const io::Path target = std::filesystem::read_symlink(root_ / at.relative_path(), error);
      take({at, error ? std::string() : target.string()});
      if (error) return;
      at = behind_top_link((at.parent_path() / target).lexically_normal());
    }
  }

  // Debian lets an administrator choose among several of a kind, say of libblas.so.3: the links of
  // `directory` that lead through /etc/alternatives.
  void add_alternatives(const io::Path& directory) {
    std::error_code error;
    std::vector<io::Path> chosen;
    for (std::filesystem::directory_iterator entry(root_ / directory.relative_path(), error), end;
         !error && entry != end; entry.increment(error)) {
      std::error_code not_a_link;
      const io::Path target = std::filesystem::read_symlink(entry->path(), not_a_link);
      if (!not_a_link && target.parent_path() == "/etc/alternatives") chosen.push_back(target);
    }
    std::sort(chosen.begin(), chosen.end());
    for (const io::Path& one : chosen) add(one);
  }

  // Names of the libraries that a program or library needs; none of what cannot be read.
  [[nodiscard]] std::vector<std::string> needed_by(const io::Path& path) const {
    try {
      const boost::interprocess::file_mapping file((root_ / path.relative_path()).c_str(),
                                                   boost::interprocess::read_only);
      const boost::interprocess::mapped_region region(file, boost::interprocess::read_only);
      return needed_libraries({static_cast<const char*>(region.get_address()), region.get_size()});
    } catch (const boost::interprocess::interprocess_exception&) {
      return {};
    }
  }

  // The link alone: what it leads to is added in parts.
  void add_link(const io::Path& path) {
    std::error_code error;
    const io::Path target = std::filesystem::read_symlink(root_ / path.relative_path(), error);
    if (!error) take({path, target.string()});
  }

  [[nodiscard]] bool is_link(const io::Path& path) const {
    std::error_code error;
    return std::filesystem::is_symlink(root_ / path.relative_path(), error);
  }
  [[nodiscard]] std::vector<RuntimeFile> files() && { return std::move(files_); }
  [[nodiscard]] bool exists(const io::Path& path) const {
    std::error_code error;
    return std::filesystem::exists(root_ / path.relative_path(), error);
  }

  // Sorted.
  [[nodiscard]] std::vector<std::string> names_in(const io::Path& directory) const {
    std::error_code error;
    std::vector<std::string> names;
    for (std::filesystem::directory_iterator entry(root_ / directory.relative_path(), error), end;
         !error && entry != end; entry.increment(error))
      names.push_back(entry->path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  // A directory of modules without those that somebody installed; nothing if it has no others.
  void add_own_modules(const io::Path& directory) {
    const auto is_installed = [](const std::string& name) {
      return std::ranges::find(installed_modules, name) != std::end(installed_modules);
    };
    const std::vector<std::string> names = names_in(directory);
    if (!names.empty() && std::ranges::all_of(names, is_installed)) return;
    add(directory);
    for (const std::string& name : names)
      if (is_installed(name)) files_.push_back({directory / name, {}, true});
  }

  // "/lib/x" -> "/usr/lib/x" where /lib is a link to "usr/lib".
  [[nodiscard]] io::Path behind_top_link(const io::Path& path) const {
    const io::Path relative = path.relative_path();
    const io::Path top = "/" / *relative.begin();
    std::error_code error;
    const io::Path target = std::filesystem::read_symlink(root_ / top.relative_path(), error);
    return error ? path : "/" / target.relative_path() / relative.lexically_relative(*relative.begin());
  }

  // What lies below something that is there already needs no place of its own.
  void take(RuntimeFile file) {
    for (const RuntimeFile& known : files_) {
      const auto relative = file.path.lexically_relative(known.path);
      if (known.link.empty() && (relative == "." || (!relative.empty() && *relative.begin() != ".."))) return;
      if (known.path == file.path) return;
    }
    files_.push_back(std::move(file));
  }

  io::Path root_;
  std::vector<RuntimeFile> files_;
};

bool is_env(const std::string& interpreter) {
  return io::Path(interpreter).filename() == "env";
}

// "#!/usr/bin/env -S python3 -I" -> {"/usr/bin/env", "python3", "-I"}; empty if it is no script.
std::vector<std::string> first_line(std::string_view program) {
  if (!program.starts_with("#!")) return {};
  std::istringstream words(std::string(program.substr(2, program.find('\n') - 2)));
  std::vector<std::string> parts;
  for (std::string word; words >> word;) {
    const bool of_env = parts.size() == 1 && is_env(parts.front()) &&
                        (word.starts_with('-') || word.find('=') != std::string::npos);
    if (!of_env) parts.push_back(word);
  }
  return parts;
}

std::vector<std::string> interpreter_of(const io::Path& program) {
  std::ifstream file(program, std::ios::binary);
  std::array<char, 256> head{};
  file.read(head.data(), head.size());
  return first_line({head.data(), static_cast<std::size_t>(file.gcount())});
}

std::vector<std::string> without_env(std::vector<std::string> words) {
  if (words.size() > 1 && is_env(words.front())) words.erase(words.begin());
  return words;
}

void add_interpreter(Collector& files, const io::Path& interpreter, Runtime runtime) {
  files.add(interpreter);
  // Its modules are beside it: /usr/bin/python3 has them in /usr/lib/python3*, its local ones in
  // /usr/local/lib.
  const std::string name = interpreter.filename();
  const std::string stem = name.substr(0, name.find_first_of("0123456789."));
  if (stem.empty() || stem == "env" || stem == "sh" || stem == "bash" || stem == "dash") return;
  const io::Path prefix = interpreter.parent_path().parent_path();
  for (const char* place : {"lib", "lib64", "share", "local/lib"})
    files.add_family(prefix / place, stem, runtime);
}

// What runs a script: the interpreter that its first line names, or that env finds.
io::Path program_of(const Collector& files, const std::vector<std::string>& script) {
  if (script.size() > 1 && is_env(script.front()))
    for (const char* place : {"/usr/bin", "/bin"})
      if (files.exists(io::Path(place) / script[1])) return io::Path(place) / script[1];
  return script.front();
}

void add_interpreter_of(Collector& files, const std::vector<std::string>& script, Runtime runtime) {
  add_interpreter(files, script.front(), runtime);
  if (const io::Path program = program_of(files, script); program != script.front())
    add_interpreter(files, program, runtime);
}

constexpr const char* library_tops[] = {"/lib", "/lib64"};

// Where the dynamic loader looks without being told, if the tree has it. In a merged tree /lib and /lib64 are
// links (/lib -> usr/lib), which the loader's own name needs.
std::vector<io::Path> library_directories(const Collector& files) {
  utsname facts{};
  const std::string machine = ::uname(&facts) == 0 ? facts.machine : "x86_64";
  std::vector<io::Path> directories = {"/usr/lib/" + machine + "-linux-gnu", "/usr/lib64"};
  if (!files.is_link("/lib")) directories.push_back("/lib/" + machine + "-linux-gnu");
  if (!files.is_link("/lib64")) directories.emplace_back("/lib64");
  return directories;
}

// Without the loader's cache, which names libraries that the program does not find.
void add_promised_libraries(Collector& files) {
  for (const io::Path& directory : library_directories(files))
    for (const char* library : promised_libraries) files.add_library(directory / library);
}

// The libraries that the programs need, with those that these need.
void add_needed_libraries(Collector& files, std::vector<io::Path> programs) {
  const std::vector<io::Path> directories = library_directories(files);
  std::set<std::string> known;
  while (!programs.empty()) {
    const io::Path program = programs.back();
    programs.pop_back();
    for (const std::string& library : files.needed_by(program)) {
      if (!known.insert(library).second) continue;
      const auto found = std::ranges::find_if(
          directories, [&](const io::Path& directory) { return files.exists(directory / library); });
      if (found == directories.end()) continue;
      files.add_library(*found / library);
      programs.push_back(*found / library);
    }
  }
}

// A Python and the libraries of its own modules. Empty: it is another interpreter, whose modules have theirs
// anywhere.
std::vector<io::Path> python_programs(const Collector& files, const std::vector<std::string>& script) {
  const io::Path interpreter = program_of(files, script);
  if (!interpreter.filename().string().starts_with("python")) return {};
  std::vector<io::Path> programs{interpreter};
  for (const char* place : {"lib", "lib64"}) {
    const io::Path parent = interpreter.parent_path().parent_path() / place;
    for (const std::string& name : files.names_in(parent)) {
      if (!name.starts_with("python")) continue;
      const io::Path modules = parent / name / "lib-dynload";
      for (const std::string& module : files.names_in(modules)) programs.push_back(modules / module);
    }
  }
  return programs;
}

void add_all_libraries(Collector& files) {
  for (const io::Path& directory : library_directories(files)) {
    files.add(directory);
    files.add_alternatives(directory);
  }
  files.add("/etc/ld.so.cache");
}

}  // namespace

std::vector<RuntimeFile> runtime_files(const io::Path& program, Runtime runtime, const io::Path& root) {
  return runtime_files_of({program}, runtime, root);
}

std::vector<RuntimeFile> runtime_files_of(const std::vector<io::Path>& programs, Runtime runtime,
                                          const io::Path& root) {
  Collector files(root);
  std::vector<std::vector<std::string>> scripts;
  for (const io::Path& program : programs)
    if (auto script = interpreter_of(program); !script.empty()) scripts.push_back(std::move(script));
  for (const char* top : library_tops)
    if (files.is_link(top)) files.add_link(top);
  bool all = runtime == Runtime::installed;
  std::vector<io::Path> pythons;
  for (const auto& script : scripts) {
    const std::vector<io::Path> own = python_programs(files, script);
    all = all || own.empty() || runtime == Runtime::modules;
    pythons.insert(pythons.end(), own.begin(), own.end());
  }
  if (all) {
    add_all_libraries(files);
  } else {
    add_promised_libraries(files);
    add_needed_libraries(files, pythons);
  }
  files.add("/usr/lib/locale/C.utf8");
  for (const auto& script : scripts) add_interpreter_of(files, script, runtime);
  return std::move(files).files();
}

std::vector<std::string> script_command(std::string_view program) {
  return without_env(first_line(program));
}

std::string script_interpreter(const io::Path& program) {
  const std::vector<std::string> words = without_env(interpreter_of(program));
  return words.empty() ? std::string() : words.front();
}

bool is_of_a_package(const io::Path& interpreter) {
  const io::Path place = interpreter.parent_path();
  return place.empty() || place == "/usr/bin" || place == "/bin";
}

std::string missing_interpreter(const io::Path& program, const io::Path& root) {
  const std::vector<std::string> script = interpreter_of(program);
  if (script.empty()) return {};
  const Collector files(root);
  const auto lacks = [&](const std::string& what) {
    const std::string sentence = "this computer lacks " + what + ", which the application needs";
    return is_of_a_package(what) ? sentence + ": " + io::install_command(io::Path(what).filename(), root)
                                 : sentence;
  };
  if (!files.exists(script.front())) return lacks(script.front());
  if (script.size() < 2 || !is_env(script.front())) return {};
  for (const char* place : {"/usr/bin", "/bin"})
    if (files.exists(io::Path(place) / script[1])) return {};
  return lacks(script[1]);
}

}  // namespace gleaner::sandbox
