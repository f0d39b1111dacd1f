// Which bearer token stands for which host. Thread-safe; from memory. Changed by effects alone, so that a
// token counts exactly when the store says so.
#pragma once

#include <array>
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
  struct Known {
    HostId host;
    bool proven = false;  // it has delivered, or is the project's own
  };
  // SHA-256 of the token.
  [[nodiscard]] std::optional<Known> find(const Bytes& digest) const;

 private:
  // In itself, for there is one a host; a digest is its own hash.
  using Digest = std::array<char, 32>;
  struct Hash {
    std::size_t operator()(const Digest& digest) const;
  };
  using Hosts = std::unordered_map<Digest, Known, Hash>;
  [[nodiscard]] static Digest key_of(const Bytes& digest);

  mutable std::shared_mutex mutex_;
  Hosts hosts_;
};

}  // namespace gleaner::service
