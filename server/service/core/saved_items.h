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
  [[nodiscard]] bool has_room(std::int64_t item, std::size_t bytes) const;
  void put(std::int64_t item, Bytes data);                   // where there is room for it
  [[nodiscard]] const Bytes* find(std::int64_t item) const;  // null: none
  void forget(Range items);

 private:
  [[nodiscard]] std::int64_t bytes_with(std::int64_t item, std::size_t bytes) const;

  std::map<std::int64_t, Bytes> items_;
  std::int64_t bytes_ = 0;
};

}  // namespace gleaner::service
