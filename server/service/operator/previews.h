// What the items in hand look like while the rest is computed. The manager that shows it is a process of its
// own, so that results go on being checked; it works in the problem's directory, so nothing is combined until
// it is done. Thread-safe.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "server/service/core/kernel.h"
#include "shared/protocol/admin_messages.h"

namespace gleaner::service {

class Previews {
 public:
  explicit Previews(Kernel& kernel) : kernel_(kernel) {}
  // Its files are among the blobs for a day. conflict: there is nothing to see, and why.
  void preview(ProblemId id, Done<protocol::Preview> done) {
    show(id, Otherwise::nothing, {}, std::move(done));
  }
  // The last one, for all who look: made anew whenever another twentieth of the items is here, at most every
  // five seconds, and a tenth of the time.
  void picture(ProblemId id, Done<protocol::Preview> done);
  // As preview(), and where the application shows nothing, the accepted items themselves: `accepted.items`
  // has them in order, each as a 4-byte little-endian length and its bytes, `accepted.tsv` which they are.
  void partial(ProblemId id, Done<protocol::Preview> done) {
    show(id, Otherwise::items, {}, std::move(done));
  }

 private:
  struct Job;
  enum class Otherwise { nothing, items };
  struct Shown {
    int stage = -1;
    std::int64_t accepted = 0;  // items of it
  };
  struct Picture {
    std::optional<Result<protocol::Preview>> last;  // the last that came of it
    Shown shown;                                    // in the last that was made
    SteadyTime made_at{}, next_at{};
    bool under_way = false;
    std::vector<Done<protocol::Preview>> waiting;  // for the first one
  };
  static constexpr std::size_t pictures_max = 64;
  // conflict, if `before` showed as much.
  void show(ProblemId id, Otherwise otherwise, Shown before, Done<protocol::Preview> done);
  void painted(ProblemId id, SteadyTime begun, const Result<protocol::Preview>& shown);
  void forget_oldest_picture();
  [[nodiscard]] Result<protocol::Preview> make(Job job, Otherwise otherwise);
  [[nodiscard]] Result<std::vector<contract::CombinedFile>> write_items(const Job& job);
  Kernel& kernel_;
  std::mutex mutex_;
  std::map<ProblemId, Picture> pictures_;  // guarded by mutex_
};

}  // namespace gleaner::service
