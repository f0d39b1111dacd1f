// Which bearer token stands for which host, and which stood for one that is gone. Thread-safe; from memory.
// Changed by effects alone, so that a token counts exactly when the store says so.
#pragma once

#include <array>
#include <optional>
#include <shared_mutex>
#include <string>
#include <unordered_map>

#include "server/service/core/model.h"

namespace gleaner::service {

[[nodiscard]] bool is_proven(const storage::HostRow& row);
// What a host is told that is not served. `why`: it was; absent: it is not known here.
[[nodiscard]] Error no_longer_here(const std::optional<std::string>& why);

class Tokens {
 public:
  void rebuild(const Model& model);
  void admit(const Bytes& digest, HostId host, bool proven);
  void drop(const Bytes& digest);
  // The host is not one any more; `why`: in a sentence.
  void refuse(const Bytes& digest, const std::string& why);
  struct Known {
    HostId host;
    bool proven = false;  // it has delivered, or is the project's own
  };
  // SHA-256 of the token.
  [[nodiscard]] std::optional<Known> find(const Bytes& digest) const;
  // forbidden: it stood for a host that is gone, and why that is; unauthorized: it is not known here, as
  // after an older state of this server was restored.
  [[nodiscard]] Error why_not(const Bytes& digest) const;

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
  std::unordered_map<Digest, std::string, Hash> gone_;
};

}  // namespace gleaner::service
