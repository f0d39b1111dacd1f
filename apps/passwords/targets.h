// The digests that are looked for: sorted, each once; as a file they are those bytes and nothing else.
// Immutable after creation; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/passwords/engine.h"
#include "shared/base/encoding.h"
#include "shared/base/result.h"

namespace gleaner::passwords {

inline constexpr std::int64_t targets_max = std::int64_t{1} << 20;

class Targets {
 public:
  // Sorts, and drops duplicates. REQUIRES: each is a digest of the algorithm; at most targets_max.
  Targets(Algorithm algorithm, std::vector<std::string> digests);
  // invalid if the bytes are not what bytes() gives.
  [[nodiscard]] static Result<Targets> from_bytes(Algorithm algorithm, std::string_view bytes);
  [[nodiscard]] Bytes bytes() const;

  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(digests_.size()); }
  [[nodiscard]] const std::string& digest(std::int64_t target) const {
    return digests_.at(static_cast<std::size_t>(target));
  }
  [[nodiscard]] std::optional<std::int64_t> find(std::string_view digest) const;
  // Valid as long as this object.
  [[nodiscard]] Filter filter() const;

 private:
  std::vector<std::string> digests_;
  std::vector<std::uint32_t> bitmap_;
  std::vector<std::uint64_t> table_;
};

}  // namespace gleaner::passwords
