// LA, LE, LZ: the placement that leaves the least idle area under the longest queue (4.11), alone or weighted
// by the predicted error. The sum is over the hosts, with the task's own seconds taken off once; as printed
// they are taken off for every host, which makes the area negative. The printed denominator is the same for
// all pairs and is left out.
#include <algorithm>
#include <cmath>

#include "server/policy/mapping/greedy.h"
#include "server/policy/mapping/table.h"

namespace gleaner::policy {
namespace {

constexpr const char* source = "Page 2009, algorithm 4.1 and (4.11), corrected";
constexpr double least_area = 1e-9;  // in place of 0, so that the error weight still decides

enum class Direction : int { none = 0, times_weight = 1, over_weight = -1 };

class IdleArea final : public Score {
 public:
  IdleArea(const MappingInput& input, const MappingCosts& costs, const GreedyOptions& options,
           Direction direction)
      : weights_(error_weights(input, options, direction == Direction::none ? 0 : options.beta)),
        costs_(costs),
        direction_(direction) {}
  void begin(const MappingDraft& plan, std::span<const std::size_t>) override {
    longest_ = 0;
    sum_ = 0;
    for (const std::size_t host : costs_.hosts()) {
      longest_ = std::max(longest_, plan.ready(host));
      sum_ += plan.ready(host);
    }
  }
  [[nodiscard]] double value(const MappingDraft& plan, std::size_t task, std::size_t host) const override {
    const double whole =
        static_cast<double>(costs_.hosts().size()) * std::max(longest_, plan.finish(task, host));
    double area = whole - sum_ - costs_(task, host);
    if (area < 1e-12 * whole) area = 0;  // what rounding leaves of nothing
    if (direction_ == Direction::none) return area;
    area = std::max(area, least_area);
    return direction_ == Direction::over_weight ? area / weights_(task, host) : area * weights_(task, host);
  }

 private:
  Matrix weights_;
  const MappingCosts& costs_;
  Direction direction_;
  double longest_ = 0;
  double sum_ = 0;
};

class LeastIdleArea final : public MappingStrategy {
 public:
  LeastIdleArea(std::string name, Direction direction, GreedyOptions options)
      : name_(std::move(name)), direction_(direction), options_(options) {}
  [[nodiscard]] Schedule generate(const MappingInput& input) const override {
    const MappingCosts costs(input, Communication::counted, options_.of);
    IdleArea score(input, costs, options_, direction_);
    return place_by_score(input, costs, score, options_, name_);
  }
  [[nodiscard]] std::string text() const override { return options_.text(name_); }

 private:
  std::string name_;
  Direction direction_;
  GreedyOptions options_;
};

template <Direction direction>
Result<std::unique_ptr<MappingStrategy>> make(StrategyOptions& options) {
  TRY_ASSIGN(const GreedyOptions greedy, GreedyOptions::read(options, direction != Direction::none));
  return std::unique_ptr<MappingStrategy>(std::make_unique<LeastIdleArea>(options.name(), direction, greedy));
}

}  // namespace

MappingEntry la_entry() {
  return {
      {"la", "the open task and host that leave the least idle area", source, GreedyOptions::explain(false)},
      make<Direction::none>};
}

MappingEntry le_entry() {
  return {{"le", "experimental: la times the error weight", source, GreedyOptions::explain(true)},
          make<Direction::times_weight>};
}

MappingEntry lz_entry() {
  return {{"lz", "experimental: la over the error weight", source, GreedyOptions::explain(true)},
          make<Direction::over_weight>};
}

}  // namespace gleaner::policy
