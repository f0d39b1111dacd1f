// When a disk will be full, by how its free space went lately. Pure; not thread-safe.
//
// Of the last six hours a sample a minute is kept; the pace is that between the first and the last, which a
// burst of uploads or a deletion bends as much as it weighs. Nothing is told before half an hour is known,
// and nothing of a time more than twelve times as far ahead as was looked back: half an hour says nothing of
// tomorrow.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "shared/base/clock.h"

namespace gleaner::policy {

class DiskOutlook {
 public:
  // Called as often as one likes.
  void note(Timestamp now, std::int64_t free_bytes);
  // Until no more than `reserve_bytes` are free, at the pace of late; nothing: it does not fill, or too
  // little is known.
  [[nodiscard]] std::optional<Duration> until(std::int64_t reserve_bytes) const;

 private:
  struct Sample {
    Timestamp at;
    std::int64_t free_bytes = 0;
  };
  std::deque<Sample> samples_;
};

}  // namespace gleaner::policy
