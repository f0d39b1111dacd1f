// How a program is confined on this system: bubblewrap builds namespaces without network and a file system
// with nothing but what the program needs; gleaner-sandbox (shared/sandbox/helper) drops to a user of its
// own, enters Landlock, the limits and the system-call filter, and supervises. Here is what client and server
// have in common: the command line of both tools, and trying what this system permits. Not thread-safe.
// Platform file: confinement_linux.cpp.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "shared/base/random.h"
#include "shared/base/result.h"
#include "shared/io/files.h"
#include "shared/io/process.h"
#include "shared/sandbox/runtime_files.h"

namespace gleaner::sandbox {

// What of it works here; containers may forbid the one or the other.
struct Walls {
  bool namespaces = true;  // else Landlock alone
  bool proc = true;        // in them, a /proc of its own
  bool scratch = true;     // and a place to write to that is in memory
};

struct Tools {
  io::Path helper;      // gleaner-sandbox
  io::Path bubblewrap;  // empty: there is none
};

// A file or directory, and where the program sees it; without namespaces that is where it is.
struct Place {
  io::Path outside;
  io::Path inside;
};

struct Confined {
  std::vector<std::string> program;  // as it is seen inside, and its arguments
  std::vector<RuntimeFile> runtime;
  std::vector<Place> readable;
  Place writable;     // its working directory, too
  bool tmp = false;   // and what it sees as /tmp, too
  unsigned user = 0;  // of the superuser's: whom to become; else 0
  int processes = 0;
  std::int64_t scratch_bytes =
      0;                          // size of the file system in memory that `writable` becomes; 0: it does not
  bool memory_counted = false;    // by a control group: memory may be shared without a file
  std::vector<io::Path> cgroups;  // to join
};

[[nodiscard]] std::vector<std::string> command_line(const Tools& tools, const Walls& walls,
                                                    const Confined& confined);

// A program that tries walls: it may not reach a file beside the directory that it works in.
struct Trial {
  io::Path directory;                // to be `Confined::writable`; made, and nobody's yet
  std::vector<std::string> program;  // to be `Confined::program`
};
// Runs one in `place`, which is made and removed. `confine` builds the walls around it; `seen`: where what it
// writes is seen while it runs (default: its directory). Empty if the walls hold, else what stands against
// them. Some tens of milliseconds.
struct Attempt {
  std::function<Result<io::ProcessSpec>(const Trial&)> confine;
  std::function<io::Path(const io::Process&)> seen = {};
};
[[nodiscard]] std::string try_walls(io::ProcessRunner& processes, io::Files& files, const Tools& tools,
                                    const Walls& walls, const io::Path& place, const Attempt& attempt);

// 0: this system has no Landlock.
[[nodiscard]] int landlock_version();
inline constexpr int landlock_needed = 3;  // without namespaces: before, files could be cut off
[[nodiscard]] io::Path
find_bubblewrap();  // the system's, else one beside the helpers (deploy/portable); empty: there is none

struct Found {
  std::optional<Walls> walls;                 // none: nothing confines here
  std::string reason;                         // why there are no namespaces; empty if there are
  bool may_be_weak = false;                   // Landlock would do, but is not accepted
  std::string remedy = "install bubblewrap";  // what the computer's administrator can do
};
// The command that permits namespaces where a setting of the kernel forbids them to users, as on Ubuntu since
// 23.10, for good; empty: none does. `proc`: where proc(5) is mounted.
[[nodiscard]] std::string permit_namespaces(const io::Path& proc = "/proc");
// The strongest walls against which `attempt` (which builds and tries them) finds nothing to say; a few tens
// of milliseconds each. `landlock`: the version that this system is taken to have.
enum class LandlockAlone { accepted, refused };
[[nodiscard]] Found find_walls(const Tools& tools, int landlock, LandlockAlone alone,
                               const std::function<std::string(const Walls&)>& attempt);

// The `number`th user that no account has, of what systemd hands out to services without one of their own,
// and nothing else may use; programs of other numbers are strangers to each other. `root`: whose they are.
[[nodiscard]] unsigned own_user(const io::Path& root, std::int64_t number);
// One of them that nothing runs as, another each time: a program that becomes it learns nothing by its
// number.
[[nodiscard]] unsigned drawn_user(Random& random);
// Of all that runs as this process's user.
[[nodiscard]] int tasks_of_this_user();

}  // namespace gleaner::sandbox
