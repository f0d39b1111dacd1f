// Strong ids: a HostId cannot be passed where a UnitId is meant. 0 means "none"; real ids start at 1.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace gleaner {

template <typename Tag>
struct StrongId {
  std::int64_t value = 0;
  [[nodiscard]] bool valid() const { return value > 0; }
  friend auto operator<=>(const StrongId&, const StrongId&) = default;
};

using HostId = StrongId<struct HostTag>;
using ProblemId = StrongId<struct ProblemTag>;
using ApplicationId = StrongId<struct ApplicationTag>;  // one application version
using UnitId = StrongId<struct UnitTag>;
using SegmentId = StrongId<struct SegmentTag>;

}  // namespace gleaner

template <typename Tag>
struct std::hash<gleaner::StrongId<Tag>> {
  std::size_t operator()(const gleaner::StrongId<Tag>& id) const noexcept {
    return std::hash<std::int64_t>{}(id.value);
  }
};
