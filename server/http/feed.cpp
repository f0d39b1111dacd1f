#include "server/http/feed.h"

#include <utility>

namespace gleaner::http {

std::optional<std::uint64_t> Feed::follow(Follower follower) {
  const std::lock_guard lock(mutex_);
  if (followers_.size() >= followers_max_) return std::nullopt;
  if (present_) follower(present_);
  followers_.emplace(++last_, std::move(follower));
  return last_;
}

void Feed::leave(std::uint64_t follower) {
  const std::lock_guard lock(mutex_);
  followers_.erase(follower);
  if (followers_.empty()) present_.reset();  // it would be an old one for whoever comes next
}

void Feed::publish(Piece piece) {
  const std::lock_guard lock(mutex_);
  if (followers_.empty()) return;
  present_ = std::move(piece);
  for (const auto& [number, follower] : followers_) follower(present_);
}

std::size_t Feed::followers() const {
  const std::lock_guard lock(mutex_);
  return followers_.size();
}

}  // namespace gleaner::http
