// Writes the bundle directory of a wrapped program (apps/CONTRACT.md): the program, what it needs and a
// manifest. Errors: invalid (the name, the command), not_found, conflict (the directory is there already),
// too_large, io.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "shared/base/result.h"
#include "shared/io/files.h"
#include "shared/io/process.h"

namespace gleaner::local {

struct WrapPlan {
  std::string name, version = "1.0.0", title, meaning;
  io::Path program;                    // on this machine
  std::vector<std::string> arguments;  // with words in braces
  std::string suffix;
  std::map<std::string, std::string> numbers;
  std::vector<std::string> ignore;                     // parts of the output, as a manifest has them
  std::vector<std::pair<std::string, io::Path>> data;  // come along as {bundle}/NAME
  io::Path compare;        // a program that decides whether two results are equal; empty: their bytes do
  bool libraries = false;  // the shared libraries that it needs and the loader come along
  std::vector<io::Path> opened;  // libraries that it opens at run time come along, too, with those they need
  std::string library_path;      // LD_LIBRARY_PATH, by which the libraries are found here
  io::Path shell;                // a static busybox that comes along for a script; empty: none
  std::int64_t memory_megabytes = 256;
};

struct WrappedBundle {
  bool rows = false;                   // the arguments name columns
  std::vector<std::string> libraries;  // that came along, by name
  std::vector<std::string> missing;    // that volunteers' computers do not have for certain
  std::vector<std::string> licences;   // packages whose copyright files came along
  std::int64_t bytes = 0;              // of all files
};

// Do the arguments name columns of a table, so that an item is a row?
[[nodiscard]] bool names_columns(const std::vector<std::string>& arguments);

// Makes the directory `into`.
[[nodiscard]] Result<WrappedBundle> make_wrapped_bundle(io::Files& files, io::ProcessRunner& processes,
                                                        const WrapPlan& plan, const io::Path& into);

}  // namespace gleaner::local
