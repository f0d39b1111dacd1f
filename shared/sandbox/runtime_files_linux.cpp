#include "shared/sandbox/runtime_files.h"

#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>

#include "shared/io/distribution.h"

namespace gleaner::sandbox {
namespace {

constexpr int links_max = 16;  // in a chain; more is a loop

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
  void add_family(const io::Path& parent, const std::string& stem) {
    std::error_code error;
    std::vector<io::Path> members;
    for (std::filesystem::directory_iterator entry(root_ / parent.relative_path(), error), end;
         !error && entry != end; entry.increment(error))
      if (const std::string name = entry->path().filename(); name.starts_with(stem))
        members.push_back(parent / name);
    std::sort(members.begin(), members.end());
    for (const io::Path& member : members) add(member);
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

 private:
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

// "#!/usr/bin/env python3" -> {"/usr/bin/env", "python3"}; empty if it is no script.
std::vector<std::string> interpreter_of(const io::Path& program) {
  std::ifstream file(program, std::ios::binary);
  std::array<char, 256> head{};
  file.read(head.data(), head.size());
  std::string text(head.data(), static_cast<std::size_t>(file.gcount()));
  if (!text.starts_with("#!")) return {};
  text = text.substr(2, text.find('\n') - 2);
  std::istringstream words(text);
  std::vector<std::string> parts;
  for (std::string word; words >> word;) parts.push_back(word);
  return parts;
}

void add_interpreter(Collector& files, const io::Path& interpreter) {
  files.add(interpreter);
  // Its modules are beside it: /usr/bin/python3 has them in /usr/lib/python3*, its local ones in
  // /usr/local/lib.
  const std::string name = interpreter.filename();
  const std::string stem = name.substr(0, name.find_first_of("0123456789."));
  if (stem.empty() || stem == "env" || stem == "sh" || stem == "bash" || stem == "dash") return;
  const io::Path prefix = interpreter.parent_path().parent_path();
  for (const char* place : {"lib", "share", "local/lib"}) files.add_family(prefix / place, stem);
}

void add_interpreter_of(Collector& files, const io::Path& program) {
  const std::vector<std::string> script = interpreter_of(program);
  if (!script.empty()) add_interpreter(files, script.front());
  if (script.size() > 1 && io::Path(script.front()).filename() == "env")
    for (const char* place : {"/usr/bin", "/bin"})
      if (files.exists(io::Path(place) / script[1])) {
        add_interpreter(files, io::Path(place) / script[1]);
        return;
      }
}

}  // namespace

std::vector<RuntimeFile> runtime_files(const io::Path& program, const io::Path& root) {
  return runtime_files_of({program}, root);
}

std::vector<RuntimeFile> runtime_files_of(const std::vector<io::Path>& programs, const io::Path& root) {
  Collector files(root);
  utsname facts{};
  const std::string machine = ::uname(&facts) == 0 ? facts.machine : "x86_64";
  // Where the dynamic loader looks first. With one tree they are links (/lib -> usr/lib); else directories.
  for (const char* place : {"/lib", "/lib64"}) {
    if (files.is_link(place)) {
      files.add_link(place);
    } else {
      files.add(io::Path(place) / (machine + "-linux-gnu"));
      if (io::Path(place) == "/lib64") files.add(place);
    }
  }
  files.add("/usr/lib/" + machine + "-linux-gnu");
  files.add_alternatives("/usr/lib/" + machine + "-linux-gnu");
  files.add("/usr/lib64");
  files.add("/usr/lib/locale/C.utf8");
  files.add("/etc/ld.so.cache");
  for (const io::Path& program : programs) add_interpreter_of(files, program);
  return std::move(files).files();
}

std::string missing_interpreter(const io::Path& program, const io::Path& root) {
  const std::vector<std::string> script = interpreter_of(program);
  if (script.empty()) return {};
  const Collector files(root);
  const auto lacks = [&](const std::string& what) {
    const std::string name = io::Path(what).filename();
    return "this computer lacks " + what +
           ", which the application needs: " + io::install_command(name, root);
  };
  if (!files.exists(script.front())) return lacks(script.front());
  if (script.size() < 2 || io::Path(script.front()).filename() != "env") return {};
  for (const char* place : {"/usr/bin", "/bin"})
    if (files.exists(io::Path(place) / script[1])) return {};
  return lacks(script[1]);
}

}  // namespace gleaner::sandbox
