// One kernel process of a check: given one unit at a time, disturbed as asked, watched and measured. What the
// kernel does wrong is part of the outcome; errors are the machine's (io). Used by one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "shared/base/clock.h"
#include "shared/base/range_set.h"
#include "shared/base/result.h"
#include "shared/contract/kernel_session.h"
#include "tools/local/check.h"

namespace gleaner::local {

class Trial {
 public:
  struct Place {
    io::Path directory;  // to work in; made if need be
    io::Path problem;
    int threads = 1;
    std::map<std::string, std::string> environment = {};
  };
  Trial(const LocalBundle& bundle, const CheckWorld& world, Place place)
      : bundle_(bundle), world_(world), place_(std::move(place)) {}

  // What is asked of it, and what happens to it on the way.
  struct Unit {
    int stage = 0;
    Range items;
    bool from_checkpoint = false;
    std::int64_t end_at = -1;   // told at once to end there instead
    std::int64_t kill_at = -1;  // killed as soon as it has written the item before this one
    bool save = false;          // asked for a checkpoint until it saved one, then killed
    // Sees each item; false: no more are wanted (it is killed).
    std::function<Result<bool>(std::int64_t item, const Bytes& bytes)> on_item = {};
    double save_after_seconds = 0;  // not before it was at the last item for so long
  };
  enum class End { done, failed, too_large, killed, saved };
  struct Outcome {
    End end = End::failed;
    std::string failure;       // of failed: a sentence with its last words
    std::vector<Bytes> items;  // from the first of the unit on
    double seconds = 0;        // from the command to the end
    double cpu_seconds = 0;
    double slowest_item_seconds = 0;
    double overrun_seconds = 0;   // since it wrote the item at end_at, if it did
    std::int64_t peak_bytes = 0;  // of memory
  };
  // REQUIRES: the unit before, if any, ended as done.
  [[nodiscard]] Result<Outcome> run(const Unit& unit);
  // Says quit. What is wrong with how it ended; empty if nothing.
  [[nodiscard]] Result<std::string> quit();
  [[nodiscard]] const io::Path& directory() const { return place_.directory; }
  // Offered when it was greeted; known once a unit was run.
  [[nodiscard]] bool offers_checkpoints() const;

 private:
  [[nodiscard]] Status start();
  [[nodiscard]] Result<bool> take(const Unit& unit, contract::KernelEvent& event, Outcome& outcome);
  void measure(Outcome& outcome);
  [[nodiscard]] std::int64_t memory_max() const;
  [[nodiscard]] double item_seconds_max() const;
  void kill();

  const LocalBundle& bundle_;
  const CheckWorld& world_;
  Place place_;
  std::unique_ptr<contract::KernelSession> session_;
  bool saving_ = false;  // asked for a checkpoint, not answered yet
  SteadyTime began_{};
  SteadyTime item_since_{};
  SteadyTime measured_{};
  SteadyTime overrun_since_{};
};

}  // namespace gleaner::local
