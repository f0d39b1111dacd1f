#include "server/service/tokens.h"

#include <mutex>
#include <utility>

namespace gleaner::service {

bool is_proven(const storage::HostRow& row) {
  return row.own || row.items_accepted > 0;
}

void Tokens::rebuild(const Model& model) {
  std::unordered_map<Bytes, Known> hosts;
  for (const auto& [id, host] : model.hosts)
    if (host.row.state == protocol::HostState::active)
      hosts[host.row.token_digest] = {id, is_proven(host.row)};
  const std::unique_lock lock(mutex_);
  hosts_ = std::move(hosts);
}

void Tokens::admit(const Bytes& digest, HostId host, bool proven) {
  const std::unique_lock lock(mutex_);
  hosts_[digest] = {host, proven};
}

void Tokens::drop(const Bytes& digest) {
  const std::unique_lock lock(mutex_);
  hosts_.erase(digest);
}

std::optional<HostId> Tokens::find(const Bytes& digest) const {
  const std::shared_lock lock(mutex_);
  const auto found = hosts_.find(digest);
  return found == hosts_.end() ? std::nullopt : std::optional<HostId>(found->second.host);
}

bool Tokens::proven(const Bytes& digest) const {
  const std::shared_lock lock(mutex_);
  const auto found = hosts_.find(digest);
  return found != hosts_.end() && found->second.proven;
}

}  // namespace gleaner::service
