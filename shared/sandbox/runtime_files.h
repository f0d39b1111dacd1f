// What a confined program can read of the computer: libraries and, for a script, its interpreter. Platform
// file: runtime_files_linux.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "shared/io/files.h"

namespace gleaner::sandbox {

// Where a sandbox with a file system of its own has the helper.
inline constexpr const char* inner_helper = "/gleaner-sandbox";

// How much of a computer a program finds.
enum class Runtime {
  promised,  // the libraries that every system has (systems.h); a script: its interpreter with that one's own
             // modules, and the libraries that these need, if it is Python; else all libraries
  modules,   // a script also the modules that somebody installed for its interpreter
  installed,  // all libraries, and what a script needs with such modules: where one person chose the computer
              // and what is on it
};

// A kernel finds such modules if the manifest's `needs` name them.
[[nodiscard]] constexpr Runtime kernel_runtime(bool modules_declared) {
  return modules_declared ? Runtime::modules : Runtime::promised;
}

struct RuntimeFile {
  io::Path path;
  std::string link = {};  // if it is a symbolic link: where it leads
  bool hidden = false;    // a directory inside one before that is to be empty; Landlock alone shows its files
};

// In an order in which they can be made; only what exists. A program that cannot be read counts as none that
// is a script.
[[nodiscard]] std::vector<RuntimeFile> runtime_files(const io::Path& program, Runtime runtime,
                                                     const io::Path& root = "/");
// Of several programs in one sandbox.
[[nodiscard]] std::vector<RuntimeFile> runtime_files_of(const std::vector<io::Path>& programs,
                                                        Runtime runtime, const io::Path& root = "/");

// The interpreter that `program`, a script, names: "/usr/bin/python3", also behind env. Empty: it is none.
[[nodiscard]] std::string script_interpreter(const io::Path& program);
// The same with its arguments, {"python3", "-I"}, of a script's content.
[[nodiscard]] std::vector<std::string> script_command(std::string_view program);
// Is it, or is a name alone found, where packages have their programs? Others are of one computer.
[[nodiscard]] bool is_of_a_package(const io::Path& interpreter);

// What this computer lacks to start `program`, a script: its interpreter, and how to install that. Empty:
// nothing.
[[nodiscard]] std::string missing_interpreter(const io::Path& program, const io::Path& root = "/");

}  // namespace gleaner::sandbox
