// FA, FE, FZ: earliest finish over all open pairs, weighted by the predicted error of the estimate. FA is
// min-min with communication (the thesis calls it max-min). Because the thesis' EW contains 1/ETC, FE favours
// slow hosts even where nothing is known of errors; error_weight=et does not.
//
// The dynamic forms FE_d = FA^EW * EW^FA and FZ_d = FA^EW / EW^FA overflow and are not monotone as printed;
// here they are compared by logarithm, with FA over its mean of the open pairs and EW kept on the side of 1
// where the score grows with FA. Experimental.
#include <cmath>

#include "server/policy/mapping/weighted.h"

namespace gleaner::policy {
namespace {

constexpr const char* error_weight_source = "Page 2009, algorithm 4.1 (corrected), section 4.2";

class Weighted final : public Score {
 public:
  Weighted(const MappingInput& input, const GreedyOptions& options, Direction direction)
      : weights_(error_weights(input, options, direction)), direction_(direction) {}
  void begin(const MappingDraft&, std::span<const std::size_t>) override {}
  [[nodiscard]] bool is_local() const override { return true; }
  [[nodiscard]] double value(const MappingDraft& plan, std::size_t task, std::size_t host) const override {
    const double finish = plan.finish(task, host);
    return direction_ == Direction::over_weight ? finish / weights_(task, host)
                                                : finish * weights_(task, host);
  }

 private:
  Matrix weights_;
  Direction direction_;
};

class Dynamic final : public Score {
 public:
  Dynamic(const MappingInput& input, const MappingCosts& costs, const GreedyOptions& options,
          Direction direction)
      : weights_(error_weights(input, options, 1)), costs_(costs), direction_(direction) {}
  void begin(const MappingDraft& plan, std::span<const std::size_t> open) override {
    double sum = 0;
    std::size_t pairs = 0;
    for (const std::size_t task : open) {
      for (const std::size_t host : costs_.hosts()) {
        if (!std::isfinite(costs_(task, host))) continue;
        sum += plan.finish(task, host);
        ++pairs;
      }
    }
    mean_ = pairs > 0 && sum > 0 ? sum / static_cast<double>(pairs) : 1;
  }
  [[nodiscard]] double value(const MappingDraft& plan, std::size_t task, std::size_t host) const override {
    const double finish = std::max(plan.finish(task, host) / mean_, 1e-9);
    double weight = weights_(task, host);
    weight = direction_ == Direction::times_weight ? std::max(weight, 1.0) : std::min(weight, 1.0);
    return weight * std::log(finish) + static_cast<double>(direction_) * finish * std::log(weight);
  }

 private:
  Matrix weights_;
  const MappingCosts& costs_;
  Direction direction_;
  double mean_ = 1;
};

class ErrorWeighted final : public MappingStrategy {
 public:
  ErrorWeighted(std::string name, Direction direction, bool dynamic, GreedyOptions options)
      : name_(std::move(name)), direction_(direction), dynamic_(dynamic), options_(options) {}
  [[nodiscard]] Schedule generate(const MappingInput& input) const override {
    const MappingCosts costs(input, Communication::counted, options_.of);
    if (dynamic_) {
      Dynamic score(input, costs, options_, direction_);
      return place_by_score(input, costs, score, options_, name_);
    }
    Weighted score(input, options_, direction_);
    return place_by_score(input, costs, score, options_, name_);
  }
  [[nodiscard]] std::string text() const override { return options_.text(name_); }

 private:
  std::string name_;
  Direction direction_;
  bool dynamic_;
  GreedyOptions options_;
};

Result<std::unique_ptr<MappingStrategy>> make_error_weight(StrategyOptions& options, Direction direction,
                                                           bool dynamic) {
  TRY_ASSIGN(GreedyOptions greedy, GreedyOptions::read(options, direction != Direction::none && !dynamic));
  if (dynamic) {
    TRY_ASSIGN(const int weight, options.choice("error_weight", {"thesis", "et"}, 0));
    greedy.relative_to_ccr = weight == 0;
  }
  return std::unique_ptr<MappingStrategy>(
      std::make_unique<ErrorWeighted>(options.name(), direction, dynamic, greedy));
}

std::vector<std::string> dynamic_options() {
  std::vector<std::string> lines = GreedyOptions::explain(true);
  lines.erase(lines.begin());  // beta
  return lines;
}

}  // namespace

MappingEntry fa_entry() {
  return {{"fa", "the open task and host that finish first, communication counted; the same as mmc",
           error_weight_source, GreedyOptions::explain(false)},
          [](StrategyOptions& options) { return make_error_weight(options, Direction::none, false); }};
}

MappingEntry fe_entry() {
  return {
      {"fe", "fa times the error weight: early and well estimated tasks first", error_weight_source,
       GreedyOptions::explain(true)},
      [](StrategyOptions& options) { return make_error_weight(options, Direction::times_weight, false); }};
}

MappingEntry fz_entry() {
  return {{"fz", "fa over the error weight: early and badly estimated tasks first", error_weight_source,
           GreedyOptions::explain(true)},
          [](StrategyOptions& options) { return make_error_weight(options, Direction::over_weight, false); }};
}

MappingEntry fe_d_entry() {
  return {
      {"fe-d", "experimental: fe with the error weight as exponent", error_weight_source, dynamic_options()},
      [](StrategyOptions& options) { return make_error_weight(options, Direction::times_weight, true); }};
}

MappingEntry fz_d_entry() {
  return {
      {"fz-d", "experimental: fz with the error weight as exponent", error_weight_source, dynamic_options()},
      [](StrategyOptions& options) { return make_error_weight(options, Direction::over_weight, true); }};
}

}  // namespace gleaner::policy
