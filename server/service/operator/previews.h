// What the items in hand look like while the rest is computed. The manager that shows it is a process of its
// own, so that results go on being checked; it works in the problem's directory, so nothing is combined until
// it is done. Thread-safe.
#pragma once

#include "server/service/core/kernel.h"
#include "shared/protocol/admin_messages.h"

namespace gleaner::service {

class Previews {
 public:
  explicit Previews(Kernel& kernel) : kernel_(kernel) {}
  // Its files are among the blobs for a day. conflict: there is nothing to see, and why.
  void preview(ProblemId id, Done<protocol::Preview> done) { show(id, Otherwise::nothing, std::move(done)); }
  // The same, and where the application shows nothing, the accepted items themselves: `accepted.items` has
  // them in order, each as a 4-byte little-endian length and its bytes, `accepted.tsv` which they are.
  void partial(ProblemId id, Done<protocol::Preview> done) { show(id, Otherwise::items, std::move(done)); }

 private:
  struct Job;
  enum class Otherwise { nothing, items };
  void show(ProblemId id, Otherwise otherwise, Done<protocol::Preview> done);
  [[nodiscard]] Result<protocol::Preview> make(Job job, Otherwise otherwise);
  [[nodiscard]] Result<std::vector<contract::CombinedFile>> write_items(const Job& job);
  Kernel& kernel_;
};

}  // namespace gleaner::service
