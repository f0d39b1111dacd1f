// Whether the host that asks should compute what others are already computing [server/policy/POLICY.md, R8].
// Internal to the module.
#pragma once

#include <limits>

#include "server/policy/stage/state.h"

namespace gleaner::policy {

class Copier {
 public:
  // All must outlive it; it lives for one request.
  Copier(const StageState& stage, const Requester& requester, Timestamp now, const Take& take);

  // Proposes a copy of `range`, which the group holds, if it is worth it. `last`: nothing ends later than it.
  // True: it was taken.
  [[nodiscard]] bool copy(const Group& group, Range range, bool last) const;
  // The same for all that the holder that ends first has left. REQUIRES: one is live.
  [[nodiscard]] bool copy_rest(const Group& group, bool last) const;

  [[nodiscard]] double rate() const { return rate_; }  // of the host that asks
  // Seconds until all that is free or stalled would be done; 0 when nothing is free.
  [[nodiscard]] double rest() const { return rest_; }

 private:
  struct Holders {
    int live = 0;
    double ends = std::numeric_limits<double>::infinity();  // seconds until the first of them ends it
  };
  [[nodiscard]] Holders holders(const Group& group, std::int64_t end) const;

  const StageState& stage_;
  const Requester& requester_;
  const EndgameRules rules_;
  const Timestamp now_;
  const Take& take_;
  const double rate_, rest_;
  const int lanes_;
};

}  // namespace gleaner::policy
