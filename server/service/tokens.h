// Which bearer token stands for which host. Thread-safe; from memory. Changed by effects alone, so that a
// token counts exactly when the store says so.
#pragma once

#include <optional>
#include <shared_mutex>
#include <unordered_map>

#include "server/service/model.h"

namespace gleaner::service {

class Tokens {
 public:
  void rebuild(const Model& model);
  void admit(const Bytes& digest, HostId host);
  void drop(const Bytes& digest);
  // SHA-256 of the token.
  [[nodiscard]] std::optional<HostId> find(const Bytes& digest) const;

 private:
  mutable std::shared_mutex mutex_;
  std::unordered_map<Bytes, HostId> hosts_;
};

}  // namespace gleaner::service
