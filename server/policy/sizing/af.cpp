// AF, adaptive factoring: sizes from each worker's measured mean mu_j and variance sigma_j^2 of an item's
// time. I. Banicescu, Z. Liu, "Adaptive factoring: a dynamic scheduling method tuned to the rate of weight
// changes", Proc. High Performance Computing Symposium 2000. With R items free:
//   D = sum sigma_j^2 / mu_j,  T = 1 / sum (1 / mu_j),
//   size = (D + 2 T R - sqrt(D^2 + 4 D T R)) / (2 mu_j), rounded.
// Workers without a result count as the mean of the others; one without a result gets factoring's ceil(R/2p).
#include <algorithm>
#include <cmath>

#include "server/policy/sizing/classics.h"

namespace gleaner::policy {
namespace {

class AdaptiveFactoring final : public PublishedRule {
 public:
  explicit AdaptiveFactoring(SizingMode mode) : PublishedRule(mode, "af") {}

 private:
  [[nodiscard]] Size published(const SizingView& view) const override {
    const std::int64_t workers = workers_of(view);
    const WorkTimes& times = view.workers[view.requester].times;
    const FleetTotals fleet = fleet_times_of(view);
    if (times.mean() <= 0 || fleet.timed <= 0) {
      return size_of(
          view, divided_up(view.free, 2 * workers),
          because(view, "af: nothing measured yet, one of {} parts of half of {}", workers, view.free));
    }
    const double all = static_cast<double>(workers) / static_cast<double>(fleet.timed);
    const double spread = fleet.times_variance_sum * all;
    const double rest = static_cast<double>(view.free) / (fleet.times_mean_rate_sum * all);  // T R
    // The formula with its numerator's root made rational: no difference of almost equal numbers.
    const double seconds =
        2 * rest * rest / (spread + 2 * rest + std::sqrt(spread * spread + 4 * spread * rest));
    const double items = std::min(seconds / times.mean(), 9e15);
    return size_of(view, std::max<std::int64_t>(1, std::llround(items)),
                   because(view, "af: {:.4g} s of {:.4g} s that all need, at {:.4g} +- {:.2g} s an item",
                           seconds, rest, times.mean(), std::sqrt(times.variance())));
  }
};

}  // namespace

SizingEntry af_entry() {
  return {{"af", "by measured mean and variance of an item's time", "Banicescu and Liu 2000", {}},
          [](SizingOptions&, SizingMode mode) -> Result<std::unique_ptr<SizingStrategy>> {
            return std::unique_ptr<SizingStrategy>(std::make_unique<AdaptiveFactoring>(mode));
          }};
}

}  // namespace gleaner::policy
