// Which processors kernels run on: all, one for each physical core, or those of the fast or of the frugal
// kind where a computer has both. Rules: cores are of two kinds if the strongest is more than a fifth
// stronger than the weakest (favoured cores of one kind differ by less); the middle between them parts them.
// A choice that leaves nothing is no choice. Pure. Cost: O(n log n).
#pragma once

#include <string>
#include <vector>

namespace gleaner::client_policy {

enum class CoreChoice { any, physical, performance, efficiency };

struct Processor {
  int number = 0;
  int core = -1;        // processors with the same one share a physical core; -1: not known
  double capacity = 0;  // relative to others of this computer; 0: not known
};

struct ChosenProcessors {
  std::vector<int> numbers;  // in order; none: all
  std::string words;  // "kernels run on 4 of 12 processors: performance cores"; empty: on all, as wished
};
[[nodiscard]] ChosenProcessors choose(CoreChoice choice, const std::vector<Processor>& all);

inline constexpr double kinds_differ = 1.2;

}  // namespace gleaner::client_policy
