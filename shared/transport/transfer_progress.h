// How far a large transfer has come, for people to see: written by the thread that transfers, read by any.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>

#include "shared/base/clock.h"

namespace gleaner::transport {

class TransferProgress {
 public:
  struct View {
    std::int64_t done = 0, all = 0;  // bytes
    double bytes_per_second = 0;     // of the last half minute; 0: not known
    Duration silent{0};              // since the last byte
  };
  explicit TransferProgress(const Clock& clock) : clock_(clock) {}

  // A transfer begins, or goes on from `done`.
  void begin(std::int64_t done, std::int64_t all);
  void reach(std::int64_t done);
  void end();
  // Nothing: none is under way.
  [[nodiscard]] std::optional<View> view() const;
  // Bytes that came since the start of the program; grows with every one that is kept.
  [[nodiscard]] std::int64_t total() const;

  static constexpr Duration window = std::chrono::seconds{30};

 private:
  struct Mark {
    SteadyTime at;
    std::int64_t done;
  };
  const Clock& clock_;
  mutable std::mutex mutex_;  // guards all below
  bool under_way_ = false;
  std::int64_t done_ = 0, all_ = 0, total_ = 0;
  SteadyTime moved_at_{};
  std::deque<Mark> marks_;  // one a second
};

// "34 % of 9.0 MiB at 50.0 KiB/s"; "34 % of 9.0 MiB, nothing for 20 s".
[[nodiscard]] std::string text_of(const TransferProgress::View& view);

}  // namespace gleaner::transport
