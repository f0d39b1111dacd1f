#include "server/front/visitors.h"

namespace gleaner::front {

std::optional<Visitors::Known> Visitors::find(const Bytes& digest) const {
  const SteadyTime now = clock_.steady();
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(digest);
  if (found == entries_.end() || found->second.until <= now) return {};
  return found->second.known;
}

void Visitors::remember(const Bytes& digest, const Known& known) {
  const SteadyTime now = clock_.steady();
  const bool lasting = known.caller != service::Load::Caller::stranger;
  const std::lock_guard lock(mutex_);
  if (entries_.size() >= remembered_max) {
    std::erase_if(entries_, [now](const auto& entry) { return entry.second.until <= now; });
    if (entries_.size() >= remembered_max) entries_.clear();  // the leader is asked again
  }
  entries_[digest] = {known, now + (lasting ? known_for : stranger_for)};
}

void Visitors::forget(const Bytes& digest) {
  const std::lock_guard lock(mutex_);
  entries_.erase(digest);
}

}  // namespace gleaner::front
