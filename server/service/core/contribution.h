// What hosts contribute, day by day: busy cores summed over time, what they draw where their owners said so,
// and accepted items. Counted once a second and stored every thirty: a crash forgets no more. Writer thread.
#pragma once

#include <cstdint>
#include <vector>

#include "server/storage/store.h"

namespace gleaner::service {

// What is not stored yet.
class Contribution {
 public:
  // Until `now` there were so many cores at work. Time in which nobody counted is left out.
  void count(Timestamp now, std::int64_t cores, double watts, std::int64_t items_accepted_ever);
  // Nothing: nothing is to be stored.
  [[nodiscard]] const std::vector<storage::DayRow>& pending() const { return pending_; }
  void stored() { pending_.clear(); }

 private:
  std::vector<storage::DayRow> pending_;  // by day
  Timestamp counted_;                     // 0: never
  std::int64_t items_ = 0;                // ever, then
};

}  // namespace gleaner::service
