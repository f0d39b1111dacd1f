// The owner's commands given with `gleaner`, kept across restarts in the file `preferences`. A pause is
// stored with its length, so that a jump of the calendar cannot prolong it. Not thread-safe.
#pragma once

#include <optional>

#include "shared/base/clock.h"
#include "shared/base/result.h"
#include "shared/io/files.h"

namespace gleaner::state {

struct Controls {
  bool enabled = true;
  bool finish = false;                   // complete the units in hand, take no more
  std::optional<Duration> pause_length;  // max(): until resumed
  Timestamp pause_begun;

  [[nodiscard]] std::optional<Duration> pause_left(Timestamp now) const;
};

[[nodiscard]] Result<Controls> load_controls(const io::Files& files,
                                             const io::Path& path);  // defaults if absent
[[nodiscard]] Status save_controls(io::Files& files, const io::Path& path, const Controls& controls);

}  // namespace gleaner::state
