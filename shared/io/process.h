// Child processes with pipes, as one interface. A child and all that it starts are one tree (on Linux a
// process group), which is stopped, continued and ended as one; all other descriptors are closed in it; its
// environment is exactly what is given; it leaves no core dumps. Errors: not_found (no such program or
// directory), io. A Process belongs to one thread at a time; the runner is thread-safe.
// Platform files: process_linux.cpp (start), child_linux.cpp (the running child).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/clock.h"
#include "shared/base/encoding.h"
#include "shared/base/result.h"
#include "shared/io/files.h"
#include "shared/io/process_tree.h"
#include "shared/io/waiting.h"

namespace gleaner::io {

// What is left over to others. Never above what the caller has itself.
enum class ProcessPriority {
  usual,
  low,     // the caller comes first: nice 5
  lowest,  // nice 19
  idle,    // only what nobody else wants, of processors and disks
};

// Of each process of a tree.
struct ProcessLimits {
  std::int64_t memory_bytes = 0;  // that it reserves, used or not; 0: no limit
  std::int64_t file_bytes = 0;    // of a file that it writes; 0: no limit
  int open_files = 256;
  ProcessPriority priority = ProcessPriority::usual;
  bool die_with_parent = true;  // Linux: also with the *thread* that started it, so start from lasting ones
};

struct ProcessSpec {
  std::vector<std::string> arguments;  // [0] is the program's path; there is no search in PATH
  std::map<std::string, std::string> environment;
  Path working_directory;  // empty: the caller's; a relative program path is relative to the caller's
  ProcessLimits limits;
  bool relays_exit = false;  // it runs another program and exits with that one's status, or 128 + its signal
};

// How a process ended. By meaning: the numbers of a system's signals and exceptions stay in its platform
// file.
struct ProcessExit {
  enum class Cause {
    exited,         // by itself, with `status`
    killed,         // by force: the system, which ran out of memory, a person, or this program
    out_of_memory,  // the same, where the system tells it apart: Linux says `killed`
    over_limit,     // it broke one of its ProcessLimits
    crashed,        // by a fault of its own, or a request to end that it did not handle
  };
  Cause cause = Cause::exited;
  int status = 0;    // where it exited
  std::string name;  // else of its end, for people: "signal 9 (Killed)"

  [[nodiscard]] bool well() const { return cause == Cause::exited && status == 0; }
  [[nodiscard]] bool exited() const { return cause == Cause::exited; }
  // Not its own doing: the system ran out of memory, or somebody ended it.
  [[nodiscard]] bool by_others() const { return cause == Cause::killed || cause == Cause::out_of_memory; }
  [[nodiscard]] std::string describe() const;  // "exited with status 3", "was killed by signal 9 (Killed)"
};

enum class ReadKind { data, would_block, closed };

class Process {
 public:
  virtual ~Process() = default;  // ends the tree, if it still runs
  [[nodiscard]] virtual TreeHandle tree() const = 0;
  // Ready when read_some() has something, or the child has closed it.
  [[nodiscard]] virtual Waitable output_waitable() const = 0;
  // Writes to standard input as much as fits; returns how much. io if the child closed it.
  [[nodiscard]] virtual Result<std::size_t> write_some(std::string_view bytes) = 0;
  virtual void close_input() = 0;
  // Appends to `into` what standard output has now, at most bytes_max. Where that is nothing, standard error
  // is drained, as poll_exit() does, so that a talkative child is not held up.
  [[nodiscard]] virtual ReadKind read_some(Bytes& into, std::size_t bytes_max) = 0;
  // Drains standard error; the last 4 KiB of all of it.
  [[nodiscard]] virtual std::string error_tail() = 0;
  // How much it wrote to standard error that was drained so far.
  [[nodiscard]] virtual std::int64_t error_bytes() const = 0;
  // What was drained after the first `offset` bytes; only the last 64 KiB of all are kept.
  [[nodiscard]] virtual std::string errors_since(std::int64_t offset) const = 0;
  // How it ended, without blocking; what is left of its tree is ended then. Output stays readable.
  [[nodiscard]] virtual std::optional<ProcessExit> poll_exit() = 0;
  // Of the whole tree; nothing happens once poll_exit() has told the end. One resume() undoes any number of
  // suspend(): where the system counts them, its platform file does it once.
  virtual void end_tree() = 0;  // at once, whatever it would do
  virtual void suspend() = 0;
  virtual void resume() = 0;
  // CPU time of the child and all that descend from it so far; the total once it has ended.
  [[nodiscard]] virtual Duration cpu_time() const = 0;
};

class ProcessRunner {
 public:
  virtual ~ProcessRunner() = default;
  // not_found / io with what to do if the program cannot be started.
  [[nodiscard]] virtual Result<std::unique_ptr<Process>> start(const ProcessSpec& spec) = 0;
};

[[nodiscard]] ProcessRunner& real_processes();

}  // namespace gleaner::io
