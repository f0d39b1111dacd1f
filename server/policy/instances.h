// Copies of a host: two programs that use one identity, as after a disk, a virtual machine or a directory was
// copied. Each run of a program draws an id and counts its requests (protocol::Instance); a run that ended
// never speaks again. So a run that speaks, with a higher number than before, after a later one did is alive
// beside it: once may be a request that the next start overtook, after twice the later run parts. What is no
// copy: a start (a new id), a crash or a lost reply on either side (numbers that are skipped), a directory
// that was put back (a new id), memory that was put back (numbers that were there before: the program draws
// another id).
// Of two that speak each minute one is told within three. Pure; kept in memory only: a server that starts
// anew finds them anew. Cost: O(runs of the last day), mostly one or two.
#pragma once

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <optional>

#include "shared/base/clock.h"

namespace gleaner::policy {

enum class Heard {
  well,      // the only program, as far as is known
  again,     // these numbers were there before: it is to draw another id
  returned,  // another one spoke meanwhile: perhaps there are two
  copy,      // it is one of two: it is to part
};

class Instances {
 public:
  [[nodiscard]] Heard hear(std::int64_t id, std::int64_t sequence, Timestamp now);
  // When a copy spoke last; nothing: none did.
  [[nodiscard]] std::optional<Timestamp> copied_at() const { return copied_at_; }

 private:
  struct Run {
    std::int64_t id = 0, sequence = 0;
    Timestamp at;
    int returns = 0;
    bool parts = false;
  };
  [[nodiscard]] Heard begin(std::int64_t id, std::int64_t sequence, Timestamp now);

  boost::container::small_vector<Run, 1> runs_;  // the oldest first
  std::int64_t present_ = 0;                     // which spoke last, of those that do not part
  std::optional<Timestamp> copied_at_;
};

}  // namespace gleaner::policy
