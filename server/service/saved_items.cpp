#include "server/service/saved_items.h"

#include <utility>

#include "shared/base/limits.h"

namespace gleaner::service {

bool SavedItems::put(std::int64_t item, Bytes data) {
  const Bytes* before = find(item);
  const std::int64_t less = before == nullptr ? 0 : static_cast<std::int64_t>(before->size());
  const std::int64_t bytes = bytes_ - less + static_cast<std::int64_t>(data.size());
  if (bytes > limits::saved_per_problem_bytes_max) return false;
  items_[item] = std::move(data);
  bytes_ = bytes;
  return true;
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
