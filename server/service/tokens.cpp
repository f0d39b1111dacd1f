#include "server/service/tokens.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

namespace gleaner::service {

bool is_proven(const storage::HostRow& row) {
  return row.own || row.items_accepted > 0;
}

std::size_t Tokens::Hash::operator()(const Digest& digest) const {
  std::size_t hash = 0;
  std::memcpy(&hash, digest.data(), sizeof hash);
  return hash;
}

Tokens::Digest Tokens::key_of(const Bytes& digest) {
  Digest key{};
  std::copy_n(digest.begin(), std::min(digest.size(), key.size()), key.begin());
  return key;
}

void Tokens::rebuild(const Model& model) {
  Hosts hosts;
  hosts.reserve(model.hosts.size());
  for (const auto& [id, host] : model.hosts)
    if (host.row.state == protocol::HostState::active && host.row.relay == HostId{})
      hosts[key_of(host.row.token_digest)] = {id, is_proven(host.row)};
  const std::unique_lock lock(mutex_);
  hosts_ = std::move(hosts);
}

void Tokens::admit(const Bytes& digest, HostId host, bool proven) {
  const std::unique_lock lock(mutex_);
  hosts_[key_of(digest)] = {host, proven};
}

void Tokens::drop(const Bytes& digest) {
  const std::unique_lock lock(mutex_);
  hosts_.erase(key_of(digest));
}

std::optional<Tokens::Known> Tokens::find(const Bytes& digest) const {
  const std::shared_lock lock(mutex_);
  const auto found = hosts_.find(key_of(digest));
  return found == hosts_.end() ? std::nullopt : std::optional<Known>(found->second);
}

}  // namespace gleaner::service
