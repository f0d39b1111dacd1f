// One kernel process, seen from the client: speaks apps/CONTRACT.md without ever blocking. The owner polls
// the process's output descriptor (or calls pump() every few milliseconds), feeds commands and takes events
// out. Everything a kernel says is untrusted: lines, lengths, indices and order are checked against the unit
// in hand, and the first offence ends the session with an event `failed`. Not thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "shared/base/clock.h"
#include "shared/base/range_set.h"
#include "shared/base/result.h"
#include "shared/io/process.h"
#include "shared/protocol/messages.h"

namespace gleaner::contract {

struct KernelEvent {
  enum class Kind { item, progress, done, checkpointed, log, failed } kind = Kind::log;
  std::int64_t item = 0;  // item, progress, checkpointed (-1: none); done: first item not written
  Bytes data;             // item
  double fraction = 0;    // progress
  std::string text;       // log, failed (a sentence with the kernel's last words)
  protocol::FailureKind failure = protocol::FailureKind::kernel_error;  // failed
  bool killed = false;  // failed: by force, and not by the session: the system or a person did
};

// Does its manifest declare modules of its interpreter? Undeclared, it finds none that somebody installed.
enum class Modules { undeclared, declared };

class KernelSession {
 public:
  // Takes over a started process and greets it.
  KernelSession(std::unique_ptr<io::Process> process, std::int64_t item_bytes_max,
                Modules modules = Modules::declared);
  ~KernelSession();  // kills it if it still runs

  // Sends `problem DIRECTORY`. Commands queue up and are written as the pipe takes them.
  void set_problem(const io::Path& directory);
  // REQUIRES: idle().
  void start_unit(int stage, Range range, bool from_checkpoint = false);
  // A lower end for the running unit; ignored when idle.
  void trim(std::int64_t end);
  void request_checkpoint();
  void quit();

  // Moves bytes both ways and parses. Call often; never blocks.
  void pump();
  [[nodiscard]] std::optional<KernelEvent> next_event();

  // What it has said so far that is no result: log and progress lines, standard error.
  [[nodiscard]] std::int64_t talk_bytes() const;
  // The end of these words; pump() and next_event() add to them.
  [[nodiscard]] const std::string& output() const;
  [[nodiscard]] bool offers_checkpoints() const;  // said so when it was greeted
  [[nodiscard]] bool idle() const;                // greeted (or greeting), no unit in hand
  [[nodiscard]] bool finished()
      const;  // the process has ended (a `failed` event was given unless quit() was called)
  [[nodiscard]] io::Process& process();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gleaner::contract
