// Items in progress as their hosts saved them, for other hosts to go on with: in memory, so that a save costs
// no disk, and a restart what was saved. Bounded. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>

#include "shared/base/encoding.h"
#include "shared/base/range_set.h"

namespace gleaner::service {

class SavedItems {
 public:
  // False, and nothing changes: there is no room for it.
  [[nodiscard]] bool put(std::int64_t item, Bytes data);
  [[nodiscard]] const Bytes* find(std::int64_t item) const;  // null: none
  void forget(Range items);

 private:
  std::map<std::int64_t, Bytes> items_;
  std::int64_t bytes_ = 0;
};

}  // namespace gleaner::service
