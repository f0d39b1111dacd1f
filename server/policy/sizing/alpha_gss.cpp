// Alpha self-scheduling: phase 1 hands each worker its share of floor(alpha N) items by an index of
// performance, in one piece; phase 2 is GSS over the rest. C.-T. Yang, W.-C. Shih, S.-S. Tseng,
// performance-based loop self-scheduling on heterogeneous PC clusters (HPL as the index, alpha = 0.5; their
// reference [6] takes the clock).
//
// A worker whose share is 0 begins with phase 2. What others have not fetched of phase 1 is kept for them:
// the rest of phase 2 is N - floor(alpha N) from the beginning.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "server/policy/sizing/classics.h"

namespace gleaner::policy {
namespace {

class AlphaGuided final : public PublishedRule {
 public:
  AlphaGuided(SizingMode mode, double alpha, PerformanceIndex index)
      : PublishedRule(mode, fmt::format("alpha-gss,alpha={},index={}", alpha, policy::name_of(index))),
        alpha_(alpha),
        index_(index) {}

 private:
  [[nodiscard]] Size published(const SizingView& view) const override {
    const auto first_phase =
        static_cast<std::int64_t>(std::floor(alpha_ * static_cast<double>(view.items) + 1e-9));
    std::int64_t share = 0, kept = 0;
    if (lists_all(view)) {
      const std::vector<std::int64_t> shares =
          proportional_shares(first_phase, performance_weights(view, index_));
      for (std::size_t i = 0; i < shares.size(); ++i) {
        if (view.workers[i].requests > 0 || !view.workers[i].available) continue;
        (i == view.requester ? share : kept) += shares[i];
      }
    } else if (view.workers[view.requester].requests == 0) {
      share = std::llround(static_cast<double>(first_phase) * performance_part(view, index_));
    }
    if (share > 0) {
      return size_of(view, share,
                     because(view, "alpha-gss: its share of {}, the {:.3g} % of phase 1, by {}", first_phase,
                             100 * alpha_, policy::name_of(index_)));
    }
    const std::int64_t workers = workers_of(view);
    const std::int64_t rest = std::max<std::int64_t>(1, view.free - kept);
    return size_of(view, divided_up(rest, workers),
                   because(view, "alpha-gss: phase 2, one of {} parts of {} free", workers, rest));
  }

  double alpha_;
  PerformanceIndex index_;
};

}  // namespace

SizingEntry alpha_gss_entry() {
  return {{"alpha-gss",
           "a part at once by known performance, the rest guided",
           "Yang, Shih and Tseng, performance-based loop self-scheduling",
           {"alpha=NUMBER  the part handed out at once, default 0.5", performance_index_help}},
          [](SizingOptions& options, SizingMode mode) -> Result<std::unique_ptr<SizingStrategy>> {
            TRY_ASSIGN(const double alpha, options.number("alpha", 0, 1, 0.5));
            TRY_ASSIGN(const PerformanceIndex index, performance_index(options));
            return std::unique_ptr<SizingStrategy>(std::make_unique<AlphaGuided>(mode, alpha, index));
          }};
}

}  // namespace gleaner::policy
