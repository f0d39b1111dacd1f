// What the items in hand look like while the rest is computed. The manager that shows it is a process of its
// own, so that results go on being checked; it works in the problem's directory, so nothing is combined until
// it is done. Thread-safe.
#pragma once

#include "server/service/kernel.h"
#include "shared/protocol/admin_messages.h"

namespace gleaner::service {

class Previews {
 public:
  explicit Previews(Kernel& kernel) : kernel_(kernel) {}
  // Its files are among the blobs for a day. conflict: there is nothing to see, and why.
  void preview(ProblemId id, Done<protocol::Preview> done);

 private:
  struct Job;
  [[nodiscard]] Result<protocol::Preview> make(Job job);
  Kernel& kernel_;
};

}  // namespace gleaner::service
