// Families of three strategies on one score: as it is, times the weight of the predicted error, and over it.
// Pure.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "server/policy/mapping/greedy.h"
#include "server/policy/mapping/table.h"

namespace gleaner::policy {

enum class Direction : int { none = 0, times_weight = 1, over_weight = -1 };

[[nodiscard]] inline double weighted(double score, double weight, Direction direction) {
  if (direction == Direction::times_weight) return score * weight;
  return direction == Direction::over_weight ? score / weight : score;
}

[[nodiscard]] inline Matrix error_weights(const MappingInput& input, const GreedyOptions& options,
                                          Direction direction) {
  return error_weights(input, options, direction == Direction::none ? 0 : options.beta);
}

// Places by a ScoreOf(input, costs, options, direction).
template <typename ScoreOf>
class PlacedByScore final : public MappingStrategy {
 public:
  PlacedByScore(std::string name, Direction direction, GreedyOptions options)
      : name_(std::move(name)), direction_(direction), options_(options) {}
  [[nodiscard]] Schedule generate(const MappingInput& input) const override {
    const MappingCosts costs(input, Communication::counted, options_.of);
    ScoreOf score(input, costs, options_, direction_);
    return place_by_score(input, costs, score, options_, name_);
  }
  [[nodiscard]] std::string text() const override { return options_.text(name_); }

 private:
  std::string name_;
  Direction direction_;
  GreedyOptions options_;
};

template <typename ScoreOf, Direction direction>
Result<std::unique_ptr<MappingStrategy>> make_by_score(StrategyOptions& options) {
  TRY_ASSIGN(const GreedyOptions greedy, GreedyOptions::read(options, direction != Direction::none));
  return std::unique_ptr<MappingStrategy>(
      std::make_unique<PlacedByScore<ScoreOf>>(options.name(), direction, greedy));
}

// One of the family, for the table.
template <typename ScoreOf, Direction direction>
MappingEntry by_score(std::string name, std::string summary, std::string source) {
  return {{std::move(name), std::move(summary), std::move(source),
           GreedyOptions::explain(direction != Direction::none)},
          make_by_score<ScoreOf, direction>};
}

}  // namespace gleaner::policy
