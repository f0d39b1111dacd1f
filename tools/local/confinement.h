// How the programs of a bundle are confined on its author's machine: a kernel as on a donor's computer, a
// manager as on a server (shared/sandbox). Neither reaches the network, the author's keys and files, or
// anything but the bundle, its problem and a directory to work in. Where that cannot be had no program is
// started, unless the person accepts it in words. Used by one thread.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "shared/sandbox/confinement.h"
#include "tools/local/local_bundle.h"

namespace gleaner::local {

// What a person has to say to go without.
inline constexpr const char* unconfined_words = "I accept that the bundle's programs run with my rights";

class Confinement {
 public:
  // The strongest that this system permits, found out by trying in the directory `place`, which is made and
  // removed: some tens of milliseconds. io: why there is none, with what to install.
  [[nodiscard]] static Result<Confinement> find(const sandbox::Tools& tools, io::ProcessRunner& processes,
                                                io::Files& files, const io::Path& place);
  // The programs run with the caller's rights.
  [[nodiscard]] static Confinement none() { return {}; }

  // What the walls are; and what they do not keep from a program, as a sentence, empty if nothing.
  [[nodiscard]] bool confines() const { return walls_.has_value(); }
  [[nodiscard]] std::string describe() const;
  [[nodiscard]] std::string weakness() const;

  // `directory`, which must exist, is the one to work in. `environment` is added to what every kernel gets.
  // It can read one problem's directory, and is told of it as `inside(problem)`. Errors: io.
  struct Kernel {
    io::Path directory;
    io::Path problem;
    int threads = 1;
    std::map<std::string, std::string> environment = {};
  };
  [[nodiscard]] Result<io::ProcessSpec> kernel(const LocalBundle& bundle, const Kernel& kernel) const;
  [[nodiscard]] io::Path inside(const io::Path& problem) const;
  // It reads `problem` and, where there are results to combine, `segments`. Errors: io.
  struct Manager {
    io::Path directory;
    io::Path problem;
    io::Path segments;
  };
  [[nodiscard]] Result<io::ProcessSpec> manager(const LocalBundle& bundle, const Manager& manager) const;

 private:
  Confinement() = default;
  [[nodiscard]] std::string attempt(io::ProcessRunner& processes, io::Files& files,
                                    const io::Path& place) const;
  // The walls around `spec`, whose first argument is the program on this machine.
  [[nodiscard]] Result<io::ProcessSpec> confined(io::ProcessSpec spec, sandbox::Confined around) const;

  sandbox::Tools tools_;
  std::optional<sandbox::Walls> walls_;  // none: unconfined
  std::string why_no_namespaces_;
};

// A copy of what a program that is not trusted has in its directory; no link is followed out of it. io.
[[nodiscard]] Status copy_work(const io::Path& from, const io::Path& to);

}  // namespace gleaner::local
