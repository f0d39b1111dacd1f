// SB, SE, SZ: large tasks to fast hosts and much data to fast links, by the place of each between the least
// and the largest of its kind (4.14-4.16). The printed ratio divides by nothing for the slowest host and,
// when minimised, picks the largest task for it; the difference of the shares is meant. There is no load in
// it: experimental, never a default (the thesis says so itself).
#include <algorithm>
#include <cmath>

#include "server/policy/estimation/clamps.h"
#include "server/policy/mapping/greedy.h"
#include "server/policy/mapping/table.h"

namespace gleaner::policy {
namespace {

constexpr const char* source = "Page 2009, algorithm 4.1 and (4.14)-(4.16), corrected";

enum class Direction : int { none = 0, times_weight = 1, over_weight = -1 };

// (x - min) / (max - min) of each; all 0 if there is no difference.
std::vector<double> shares(std::vector<double> values, std::size_t count) {
  if (values.empty()) values.assign(count, 0);
  if (values.empty()) return values;
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const double least = *low;
  const double span = *high - *low;
  for (double& value : values) value = span > 0 ? (value - least) / span : 0;
  return values;
}

class Similarity final : public Score {
 public:
  Similarity(const MappingInput& input, const GreedyOptions& options, Direction direction)
      : scores_(input.tasks(), input.hosts()) {
    const std::vector<double> work = shares(work_of(input), input.tasks());
    const std::vector<double> rates = shares(rates_of(input), input.hosts());
    const std::vector<double> bytes = shares(input.bytes, input.tasks());
    const std::vector<double> bandwidth = shares(input.bandwidth, input.hosts());
    const Matrix weights = error_weights(input, options, direction == Direction::none ? 0 : options.beta);
    const bool has_communication = input.communication.rows() > 0;
    for (std::size_t task = 0; task < input.tasks(); ++task) {
      for (std::size_t host = 0; host < input.hosts(); ++host) {
        const double transfer = has_communication ? input.communication(task, host) : 0;
        const double inverse_ratio =
            1 / computation_to_communication(input.computation(task, host), transfer);
        double score =
            std::abs(work[task] - rates[host]) + std::abs(bytes[task] - bandwidth[host]) * inverse_ratio;
        if (direction == Direction::times_weight) score *= weights(task, host);
        if (direction == Direction::over_weight) score /= weights(task, host);
        scores_(task, host) = score;
      }
    }
  }
  void begin(const MappingDraft&, std::span<const std::size_t>) override {}
  [[nodiscard]] bool is_local() const override { return true; }
  [[nodiscard]] double value(const MappingDraft&, std::size_t task, std::size_t host) const override {
    return scores_(task, host);
  }

 private:
  Matrix scores_;
};

class BySimilarity final : public MappingStrategy {
 public:
  BySimilarity(std::string name, Direction direction, GreedyOptions options)
      : name_(std::move(name)), direction_(direction), options_(options) {}
  [[nodiscard]] Schedule generate(const MappingInput& input) const override {
    const MappingCosts costs(input, Communication::counted, options_.of);
    Similarity score(input, options_, direction_);
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
  return std::unique_ptr<MappingStrategy>(std::make_unique<BySimilarity>(options.name(), direction, greedy));
}

}  // namespace

MappingEntry sb_entry() {
  return {{"sb", "experimental: large tasks to fast hosts, much data to fast links", source,
           GreedyOptions::explain(false)},
          make<Direction::none>};
}

MappingEntry se_entry() {
  return {{"se", "experimental: sb times the error weight", source, GreedyOptions::explain(true)},
          make<Direction::times_weight>};
}

MappingEntry sz_entry() {
  return {{"sz", "experimental: sb over the error weight", source, GreedyOptions::explain(true)},
          make<Direction::over_weight>};
}

}  // namespace gleaner::policy
