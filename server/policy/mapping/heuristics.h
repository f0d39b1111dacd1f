// The list heuristics as functions, for the strategies that carry their names and for those that start from
// them. Source: Page 2009, section 3.2; Ibarra and Kim 1977; Maheswaran et al. 1999. Internal to the module.
#pragma once

#include <string>

#include "server/policy/mapping/costs.h"

namespace gleaner::policy {

// First in, first out; each task on the host with the earliest finish. O(N M).
[[nodiscard]] Schedule earliest_finish(const MappingInput& input);

enum class TaskOrder : int { batch = 0, smallest_first = 1, largest_first = 2 };
// Each task on the host that is idle first, whatever the task costs there. O(N (M + log N)).
[[nodiscard]] Schedule lightest_loaded(const MappingInput& input, TaskOrder order,
                                       Communication communication);

enum class Extreme : int { least = 0, most = 1 };
// Min-min (least) and max-min (most): again and again, of all open tasks the one whose earliest finish is the
// least (most). O(N^2 + N M) typically, O(N^2 M) at worst.
[[nodiscard]] Schedule extreme_finish(const MappingInput& input, Extreme extreme,
                                      Communication communication);

// A strategy without options that is one of these functions.
template <typename Function>
class ListHeuristic final : public MappingStrategy {
 public:
  ListHeuristic(std::string name, Function function) : name_(std::move(name)), function_(function) {}
  [[nodiscard]] Schedule generate(const MappingInput& input) const override { return function_(input); }
  [[nodiscard]] std::string text() const override { return name_; }

 private:
  std::string name_;
  Function function_;
};

template <typename Function>
[[nodiscard]] Result<std::unique_ptr<MappingStrategy>> list_heuristic(std::string name, Function function) {
  return std::unique_ptr<MappingStrategy>(
      std::make_unique<ListHeuristic<Function>>(std::move(name), function));
}

}  // namespace gleaner::policy
