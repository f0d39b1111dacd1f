// Which bearer token stands for which host. Thread-safe; from memory. Changed by effects alone, so that a
// token counts exactly when the store says so.
#pragma once

#include <optional>
#include <shared_mutex>
#include <unordered_map>

#include "server/service/model.h"

namespace gleaner::service {

[[nodiscard]] bool is_proven(const storage::HostRow& row);

class Tokens {
 public:
  void rebuild(const Model& model);
  void admit(const Bytes& digest, HostId host, bool proven);
  void drop(const Bytes& digest);
  // SHA-256 of the token.
  [[nodiscard]] std::optional<HostId> find(const Bytes& digest) const;
  // Has its host delivered, or is it the project's own?
  [[nodiscard]] bool proven(const Bytes& digest) const;

 private:
  struct Known {
    HostId host;
    bool proven = false;
  };
  mutable std::shared_mutex mutex_;
  std::unordered_map<Bytes, Known> hosts_;
};

}  // namespace gleaner::service
