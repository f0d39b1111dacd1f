#include "client/policy/core_choice.h"

#include <algorithm>
#include <set>

namespace gleaner::client_policy {
namespace {

std::vector<int> one_of_each_core(const std::vector<Processor>& all) {
  std::vector<int> numbers;
  std::set<int> seen;
  for (const Processor& one : all)
    if (one.core < 0 || seen.insert(one.core).second) numbers.push_back(one.number);
  return numbers;
}

// Empty: there is one kind only.
std::vector<int> of_kind(CoreChoice choice, const std::vector<Processor>& all) {
  const auto [weakest, strongest] =
      std::minmax_element(all.begin(), all.end(),
                          [](const auto& one, const auto& other) { return one.capacity < other.capacity; });
  if (weakest == all.end() || weakest->capacity <= 0 ||
      strongest->capacity <= kinds_differ * weakest->capacity)
    return {};
  const double middle = (weakest->capacity + strongest->capacity) / 2;
  std::vector<int> numbers;
  for (const Processor& one : all)
    if ((one.capacity > middle) == (choice == CoreChoice::performance)) numbers.push_back(one.number);
  return numbers;
}

}  // namespace

ChosenProcessors choose(CoreChoice choice, const std::vector<Processor>& all) {
  if (choice == CoreChoice::any) return {};
  std::vector<Processor> sorted = all;
  std::sort(sorted.begin(), sorted.end(),
            [](const auto& one, const auto& other) { return one.number < other.number; });
  const bool physical = choice == CoreChoice::physical;
  ChosenProcessors chosen;
  chosen.numbers = physical ? one_of_each_core(sorted) : of_kind(choice, sorted);
  if (chosen.numbers.empty()) {
    chosen.words = "kernels run on all processors: this computer shows one kind of core only";
    return chosen;
  }
  chosen.words = "kernels run on " + std::to_string(chosen.numbers.size()) + " of " +
                 std::to_string(all.size()) + " processors: " +
                 (physical                            ? "one for each physical core"
                  : choice == CoreChoice::performance ? "performance cores"
                                                      : "efficiency cores");
  return chosen;
}

}  // namespace gleaner::client_policy
