// Which shared libraries the programs of a bundle need that neither the bundle brings nor kernels find: they
// have the C and C++ libraries of the system (apps/CONTRACT.md), in the versions that these systems have
// (shared/sandbox/systems.h).
#pragma once

#include <string>
#include <vector>

#include "shared/base/result.h"
#include "shared/io/files.h"

namespace gleaner::local {

struct MissingLibrary {
  std::string file;  // of the bundle, relative to it: a program or a library
  std::string library;
};

// A program that was linked on a newer system than this one does not start there.
struct NewerSymbol {
  std::string file;     // as above
  std::string version;  // "GLIBC_2.38"
  std::string system;   // "Debian 12 has 2.36"
  bool client = true;   // System::client
};

struct SystemNeeds {
  std::vector<MissingLibrary> missing;
  std::vector<MissingLibrary>
      on_server;                   // the same of programs that run there, where the operator installs them
  std::vector<NewerSymbol> newer;  // one a file and system
  // A program that needs the system's GNU C library, and does not start where that is musl; empty: none.
  std::string glibc;
};

// Of all programs but those that run `on_server`, the manager and its comparison, and of the libraries in the
// bundle that they need. Errors: io, a file cannot be read.
[[nodiscard]] Result<SystemNeeds> system_needs(const io::Files& files, const io::Path& bundle,
                                               const std::vector<std::string>& on_server);

}  // namespace gleaner::local
