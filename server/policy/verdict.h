// Overlapping results of the same item: who is right. Opinions are compared pairwise by the caller (exact
// bytes or the application's own comparison); the largest class of agreeing opinions with at least two
// members wins. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "shared/base/ids.h"

namespace gleaner::policy {

struct Opinion {
  HostId host;
  SegmentId segment;
};

enum class VerdictKind : int { agree = 1, need_another = 2, decided = 3, undecided = 4 };

struct Verdict {
  VerdictKind kind = VerdictKind::agree;
  std::vector<std::size_t> right;  // indices into the opinions
  std::vector<std::size_t> wrong;
};

// `same(i, j)`: do opinions i and j agree? Opinions of one host count once.
[[nodiscard]] Verdict judge(std::span<const Opinion> opinions,
                            const std::function<bool(std::size_t, std::size_t)>& same, int opinions_max);

}  // namespace gleaner::policy
