#include "server/service/core/saved_items.h"

#include <utility>

#include "shared/base/check.h"
#include "shared/base/limits.h"

namespace gleaner::service {

std::int64_t SavedItems::bytes_with(std::int64_t item, std::size_t bytes) const {
  const Bytes* before = find(item);
  const std::size_t less = before == nullptr ? 0 : before->size();
  return bytes_ + static_cast<std::int64_t>(bytes) - static_cast<std::int64_t>(less);
}

bool SavedItems::has_room(std::int64_t item, std::size_t bytes) const {
  return bytes_with(item, bytes) <= limits::saved_per_problem_bytes_max;
}

void SavedItems::put(std::int64_t item, Bytes data) {
  CHECK_TRUE(has_room(item, data.size()));
  bytes_ = bytes_with(item, data.size());
  items_[item] = std::move(data);
}

const Bytes* SavedItems::find(std::int64_t item) const {
  const auto found = items_.find(item);
  return found == items_.end() ? nullptr : &found->second;
}

void SavedItems::forget(Range items) {
  const auto end = items_.lower_bound(items.end);
  for (auto each = items_.lower_bound(items.begin); each != end; each = items_.erase(each))
    bytes_ -= static_cast<std::int64_t>(each->second.size());
}

}  // namespace gleaner::service
