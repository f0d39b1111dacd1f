// An unsigned bundle on this machine: its programs as they are to be started, but for what confines them
// (confinement.h), and the directories that they are told of. Errors: not_found (no kernel for this platform;
// no such file), invalid (the manifest), io.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "shared/base/capability.h"
#include "shared/bundle/manifest.h"
#include "shared/contract/kernel_session.h"
#include "shared/contract/manager_session.h"
#include "shared/io/files.h"
#include "shared/io/process.h"
#include "shared/sandbox/runtime_files.h"
#include "tools/local/foreign.h"

namespace gleaner::local {

struct LocalBundle {
  bundle::Manifest manifest;
  io::Path directory;  // absolute
  io::Path kernel;
  io::Path manager;
  io::Path compare;                       // which it compares results with; empty: none
  std::optional<Emulator> emulator = {};  // which runs the kernel, of another platform
  // What of a computer its kernels find.
  [[nodiscard]] contract::Modules modules() const {
    return name_modules(manifest.needs) ? contract::Modules::declared : contract::Modules::undeclared;
  }
  [[nodiscard]] sandbox::Runtime kernel_runtime() const {
    return sandbox::kernel_runtime(modules() == contract::Modules::declared);
  }
};
// With the kernel that a host of `platform` gets; nothing emulates it yet.
[[nodiscard]] Result<LocalBundle> open_bundle(const io::Path& directory, const std::string& platform);

// `directory` is the one to work in; it must exist. `environment` is added to what every kernel gets.
[[nodiscard]] io::ProcessSpec kernel_spec(const LocalBundle& bundle, const io::Path& directory, int threads,
                                          const std::map<std::string, std::string>& environment = {});
[[nodiscard]] io::ProcessSpec manager_spec(const LocalBundle& bundle, const io::Path& directory);

// What a problem computes on.
struct Content {
  std::string parameters;  // JSON text
  std::vector<std::pair<std::string, io::Path>> inputs;
};
// Is it what the bundle's manifest asks for? As the server checks it. invalid, with the parameter's name.
[[nodiscard]] Status check_content(const LocalBundle& bundle, const Content& content);
// What of it kernels get: a manager may keep the problem's inputs to itself (manager.keeps_inputs).
[[nodiscard]] Content seen_by_kernels(const LocalBundle& bundle, Content content);
// What a manager planned that kernels read, in its directory.
struct Planned {
  io::Path directory;
  const std::vector<contract::PlannedInput>& inputs;
  Range items = {};  // only inputs for some of these; empty: all
};
// Makes the directory that kernels and managers read: the parameters, the problem's inputs and those of a
// stage's plan. The inputs are linked or copied.
[[nodiscard]] Status write_problem(io::Files& files, const io::Path& directory, const Content& content,
                                   const std::optional<Planned>& planned = {});

// This machine's platform as manifests name it, for example x86_64-linux.
[[nodiscard]] std::string this_platform();
// Cores that this machine has; at least 1.
[[nodiscard]] int cores_here();

// Exit codes speak of the server; what fails here is this machine's.
[[nodiscard]] Error local_error(const Error& error, const std::string& what);

}  // namespace gleaner::local
