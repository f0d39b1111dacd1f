// What the tests of dsearch share: sequences made up from a seed, and alignment by the textbook.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "apps/dsearch/scheme.h"
#include "shared/base/random.h"

namespace gleaner::dsearch {

inline std::string codes(Alphabet alphabet, std::string_view text) {
  std::string result;
  for (const char letter : text) result.push_back(static_cast<char>(code_of(alphabet, letter)));
  return result;
}

inline std::string random_codes(Random& random, std::size_t length, std::uint64_t kinds = 20) {
  std::string text(length, '\0');
  for (char& code : text) code = static_cast<char>(random.below(kinds));
  return text;
}

// The same, changed here and there.
inline std::string relative_of(Random& random, std::string_view text, double change,
                               std::uint64_t kinds = 20) {
  std::string result;
  for (const char code : text) {
    if (random.chance(change / 3)) continue;
    result.push_back(random.chance(change) ? static_cast<char>(random.below(kinds)) : code);
    if (random.chance(change / 3)) result += random_codes(random, 1 + random.below(5), kinds);
  }
  return result;
}

// Waterman, Smith and Beyer 1976: every gap of every length is tried, in cubic time. No state for gaps, and
// so nothing of how the kernels do it.
inline int textbook_score(Mode mode, const Scheme& scheme, std::string_view a, std::string_view b) {
  const std::size_t m = a.size(), n = b.size();
  std::vector<std::vector<int>> h(m + 1, std::vector<int>(n + 1, 0));
  int best = mode == Mode::local ? 0 : -(1 << 30);
  for (std::size_t i = 0; i <= m; ++i) {
    for (std::size_t j = 0; j <= n; ++j) {
      const auto gap = [&](std::size_t length) { return scheme.gap(static_cast<std::int64_t>(length)); };
      if (i == 0 || j == 0) {
        h[i][j] = mode == Mode::global ? -gap(i + j) : 0;
      } else {
        int value = h[i - 1][j - 1] + scheme.score(a[i - 1], b[j - 1]);
        for (std::size_t k = 1; k <= i; ++k) value = std::max(value, h[i - k][j] - gap(k));
        for (std::size_t k = 1; k <= j; ++k) value = std::max(value, h[i][j - k] - gap(k));
        h[i][j] = mode == Mode::local ? std::max(value, 0) : value;
        if (mode == Mode::local || (mode == Mode::semi_global && (i == m || j == n)))
          best = std::max(best, h[i][j]);
      }
    }
  }
  return mode == Mode::global ? h[m][n] : best;
}

}  // namespace gleaner::dsearch
