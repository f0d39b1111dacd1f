#include "server/http/feed.h"

#include <algorithm>
#include <utility>

namespace gleaner::http {

bool Feed::is_full(const std::string& who) const {
  const auto own = std::count_if(followers_.begin(), followers_.end(),
                                 [&](const auto& entry) { return entry.second.who == who; });
  return followers_.size() >= followers_max_ || static_cast<std::size_t>(own) >= of_one_max_;
}

bool Feed::full(const std::string& who) const {
  const std::lock_guard lock(mutex_);
  return is_full(who);
}

std::optional<std::uint64_t> Feed::follow(Follower follower, const std::string& who) {
  const std::lock_guard lock(mutex_);
  if (is_full(who)) return std::nullopt;
  if (present_) follower(present_);
  followers_.emplace(++last_, Following{who, std::move(follower)});
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
  for (const auto& [number, follower] : followers_) follower.tell(present_);
}

std::size_t Feed::followers() const {
  const std::lock_guard lock(mutex_);
  return followers_.size();
}

}  // namespace gleaner::http
