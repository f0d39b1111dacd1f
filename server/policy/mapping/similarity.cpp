// SB, SE, SZ: large tasks to fast hosts and much data to fast links, by the place of each between the least
// and the largest of its kind (4.14-4.16). The printed ratio divides by nothing for the slowest host and,
// when minimised, picks the largest task for it; the difference of the shares is meant. There is no load in
// it: experimental, never a default (the thesis says so itself).
#include <algorithm>
#include <cmath>

#include "server/policy/estimation/clamps.h"
#include "server/policy/mapping/weighted.h"

namespace gleaner::policy {
namespace {

constexpr const char* similarity_source = "Page 2009, algorithm 4.1 and (4.14)-(4.16), corrected";

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
  Similarity(const MappingInput& input, const MappingCosts&, const GreedyOptions& options,
             Direction direction)
      : scores_(input.tasks(), input.hosts()) {
    const std::vector<double> work = shares(work_of(input), input.tasks());
    const std::vector<double> rates = shares(rates_of(input), input.hosts());
    const std::vector<double> bytes = shares(input.bytes, input.tasks());
    const std::vector<double> bandwidth = shares(input.bandwidth, input.hosts());
    const Matrix weights = error_weights(input, options, direction);
    const bool has_communication = input.communication.rows() > 0;
    for (std::size_t task = 0; task < input.tasks(); ++task) {
      for (std::size_t host = 0; host < input.hosts(); ++host) {
        const double transfer = has_communication ? input.communication(task, host) : 0;
        const double inverse_ratio =
            1 / computation_to_communication(input.computation(task, host), transfer);
        const double score =
            std::abs(work[task] - rates[host]) + std::abs(bytes[task] - bandwidth[host]) * inverse_ratio;
        scores_(task, host) = weighted(score, weights(task, host), direction);
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

}  // namespace

MappingEntry sb_entry() {
  return by_score<Similarity, Direction::none>(
      "sb", "experimental: large tasks to fast hosts, much data to fast links", similarity_source);
}

MappingEntry se_entry() {
  return by_score<Similarity, Direction::times_weight>("se", "experimental: sb times the error weight",
                                                       similarity_source);
}

MappingEntry sz_entry() {
  return by_score<Similarity, Direction::over_weight>("sz", "experimental: sb over the error weight",
                                                      similarity_source);
}

}  // namespace gleaner::policy
