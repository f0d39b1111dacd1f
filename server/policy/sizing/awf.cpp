#include "server/policy/sizing/awf.h"

#include "server/policy/sizing/classics.h"

namespace gleaner::policy {
namespace {

class AdaptiveWeighted final : public PublishedRule {
 public:
  AdaptiveWeighted(SizingMode mode, AdaptiveWeights variant)
      : PublishedRule(mode, variant.name), variant_(std::move(variant)) {}

 private:
  [[nodiscard]] Size published(const SizingView& view) const override {
    const std::int64_t workers = workers_of(view);
    StageMemory memory = view.memory;
    if (variant_.batches) {
      memory = next_in_batch(view, workers);
    } else {
      ++memory.units;
    }
    const std::int64_t rest = variant_.batches ? memory.base : view.free;
    const double weight = weight_of(view);
    Size size =
        size_of(view, rounded_up(weight * static_cast<double>(rest) / (2 * static_cast<double>(workers))),
                because(view, "{}: {:.3g} times one of {} parts of half of {}", variant_.name, weight,
                        workers, rest));
    size.memory = memory;
    return size;
  }

  [[nodiscard]] double weight_of(const SizingView& view) const {
    const WorkTimes& times = view.workers[view.requester].times;
    const FleetTotals fleet = fleet_times_of(view);
    const double own = variant_.with_waiting ? times.rate_with_waiting() : times.rate();
    const double sum = variant_.with_waiting ? fleet.times_rate_with_waiting_sum : fleet.times_rate_sum;
    return own > 0 && sum > 0 ? own * static_cast<double>(fleet.timed) / sum : 1;
  }

  AdaptiveWeights variant_;
};

}  // namespace

std::unique_ptr<SizingStrategy> make_adaptive_weighted(AdaptiveWeights variant, SizingMode mode) {
  return std::make_unique<AdaptiveWeighted>(mode, std::move(variant));
}

}  // namespace gleaner::policy
