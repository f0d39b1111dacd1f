// Algorithm 4.1 of Page 2009: place the open task and host of the least score, again and again. Internal to
// the module.
#pragma once

#include <span>
#include <string>

#include "server/policy/mapping/costs.h"

namespace gleaner::policy {

// Options of the whole error-weight family.
struct GreedyOptions {
  double beta = 0.1;               // the power of the error weight
  Case of = Case::best;            // ETC or ETC * (1 + ET)
  bool relative_to_ccr = true;     // EW = ET / CCR (thesis), or ET alone
  bool literal = false;            // as printed: the least value is forgotten with every task
  bool takes_error_weight = true;  // whether beta and error_weight are options of this strategy

  [[nodiscard]] static Result<GreedyOptions> read(StrategyOptions& options, bool takes_error_weight);
  [[nodiscard]] static std::vector<std::string> explain(bool takes_error_weight);
  [[nodiscard]] std::string text(const std::string& name) const;
};

// What is minimised; smaller is better. One object scores one batch.
class Score {
 public:
  Score() = default;
  Score(const Score&) = delete;
  Score& operator=(const Score&) = delete;
  virtual ~Score() = default;
  // Before each placement, with the tasks that are still open.
  virtual void begin(const MappingDraft& plan, std::span<const std::size_t> open) = 0;
  // Whether a pair's value depends on nothing but the pair and its host's ready time, and does not fall when
  // that grows. Then only tasks whose best host was just used need another look.
  [[nodiscard]] virtual bool is_local() const { return false; }
  // REQUIRES: the task may go to the host.
  [[nodiscard]] virtual double value(const MappingDraft& plan, std::size_t task, std::size_t host) const = 0;
};

// EW(i,j) = ET / CCR = ET * C / ETC, or ET alone; ET, C and ETC clamped as the estimator does, so that it is
// finite and above 0.
[[nodiscard]] double error_weight_of(const MappingInput& input, std::size_t task, std::size_t host,
                                     bool relative_to_ccr);
// EW^beta for all pairs.
[[nodiscard]] Matrix error_weights(const MappingInput& input, const GreedyOptions& options, double beta);

// O(N^2 M); with a local score O(N^2 + N M) typically. As printed (options.literal), the open task that comes
// last is placed on its own best host: O(N M).
[[nodiscard]] Schedule place_by_score(const MappingInput& input, const MappingCosts& costs, Score& score,
                                      const GreedyOptions& options, const std::string& name);

}  // namespace gleaner::policy
