// Checkpoints of the items that kernels are working on: a unit's latest one is kept beside its journal
// together with its digest, and put where the next kernel looks for it. Also decides when a running kernel
// is asked for one. Not thread-safe.
#pragma once

#include <optional>

#include "client/engine/unit.h"

namespace gleaner::engine {

// Where the item that a unit is to go on with was saved, if it was.
struct Checkpoint {
  enum class Where { nowhere, here, elsewhere /* by the host that began the unit's first item */ };
  Where where = Where::nowhere;
  Bytes data = {};  // from elsewhere

  [[nodiscard]] bool any() const { return where != Where::nowhere; }
};

class Checkpoints {
 public:
  // `slot`: the directory in which kernels read and write theirs.
  Checkpoints(io::Files& files, io::Path slot) : files_(files), slot_(std::move(slot)) {}

  [[nodiscard]] Checkpoint find(const Unit& unit) const;
  // Where the kernel finds it. REQUIRES: none runs.
  [[nodiscard]] Status lay_out(const Unit& unit, const Checkpoint& checkpoint);

  // A unit begins to be computed.
  void start(SteadyTime now);
  // Is the running kernel to be asked for a checkpoint? Long items are saved as often as finished ones are
  // delivered, every `interval`. `on_item`: how long the item has run.
  [[nodiscard]] bool due(Duration interval, Duration on_item, SteadyTime now) const;
  void asked(SteadyTime now);
  // Has it been, without an answer yet?
  [[nodiscard]] bool awaited() const { return awaited_; }
  // Takes what the kernel wrote into `written`, its directory, now that it says so: it is unit's latest.
  // Else: it is no file, or too large.
  [[nodiscard]] Status keep(const Unit& unit, const io::Path& written);
  void answered() { awaited_ = false; }

  [[nodiscard]] static io::Path path_of(const Unit& unit);

 private:
  [[nodiscard]] bool is_whole(const io::Path& checkpoint) const;

  io::Files& files_;
  io::Path slot_;
  bool awaited_ = false;
  SteadyTime asked_at_{};
  std::optional<io::Path> kept_;  // the unit's latest
};

}  // namespace gleaner::engine
