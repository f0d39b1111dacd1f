// Who holds which token, as the leader last said: for limits alone, since the leader looks at the token of
// each operation itself. So what is remembered here may be some minutes old. Bounded; thread-safe.
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "server/service/core/load.h"
#include "shared/base/clock.h"
#include "shared/base/encoding.h"

namespace gleaner::front {

class Visitors {
 public:
  // Who has delivered, or is an administrator, stays known longer than who will soon be somebody else.
  static constexpr Duration known_for = std::chrono::minutes{10}, stranger_for = std::chrono::seconds{30};
  static constexpr std::size_t remembered_max = 200'000;  // some 100 bytes each

  struct Known {
    service::Load::Caller caller = service::Load::Caller::stranger;
    std::optional<HostId> host = std::nullopt;  // absent: an administrator, who may send much
  };
  explicit Visitors(const Clock& clock) : clock_(clock) {}
  // By the token's SHA-256.
  [[nodiscard]] std::optional<Known> find(const Bytes& digest) const;
  void remember(const Bytes& digest, const Known& known);
  void forget(const Bytes& digest);

 private:
  struct Entry {
    Known known;
    SteadyTime until{};
  };
  const Clock& clock_;
  mutable std::mutex mutex_;
  std::unordered_map<Bytes, Entry> entries_;
};

}  // namespace gleaner::front
