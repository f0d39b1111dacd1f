#include "server/service/core/tokens.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

namespace gleaner::service {

bool is_proven(const storage::HostRow& row) {
  return row.own || row.items_accepted > 0;
}

Error no_longer_here(const std::optional<std::string>& why) {
  if (!why)
    return {
        ErrorKind::unauthorized,
        "this host is not known here, as after the server was restored from a backup: it has to join again "
        "with its join code"};
  return {ErrorKind::forbidden, "this host is served no more: " + *why};
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
  decltype(gone_) gone;
  for (const auto& [id, host] : model.hosts) {
    if (host.row.state != protocol::HostState::active)
      gone[key_of(host.row.token_digest)] = host.row.state_reason;
    else if (host.row.relay == HostId{})
      hosts[key_of(host.row.token_digest)] = {id, is_proven(host.row)};
  }
  const std::unique_lock lock(mutex_);
  hosts_ = std::move(hosts);
  gone_ = std::move(gone);
}

void Tokens::admit(const Bytes& digest, HostId host, bool proven) {
  const std::unique_lock lock(mutex_);
  hosts_[key_of(digest)] = {host, proven};
  gone_.erase(key_of(digest));
}

void Tokens::drop(const Bytes& digest) {
  const std::unique_lock lock(mutex_);
  hosts_.erase(key_of(digest));
  gone_.erase(key_of(digest));
}

void Tokens::refuse(const Bytes& digest, const std::string& why) {
  const std::unique_lock lock(mutex_);
  hosts_.erase(key_of(digest));
  gone_[key_of(digest)] = why;
}

Error Tokens::why_not(const Bytes& digest) const {
  const std::shared_lock lock(mutex_);
  const auto found = gone_.find(key_of(digest));
  return no_longer_here(found == gone_.end() ? std::nullopt : std::optional(found->second));
}

std::optional<Tokens::Known> Tokens::find(const Bytes& digest) const {
  const std::shared_lock lock(mutex_);
  const auto found = hosts_.find(key_of(digest));
  return found == hosts_.end() ? std::nullopt : std::optional<Known>(found->second);
}

}  // namespace gleaner::service
