// Static: optimum task distribution. Each worker gets one share of all items in proportion to its performance
// [equations (1)-(4)]. The grid mode goes on from there: a share that was clamped, or a host that came after
// the division, gets its proportion of what is still free, since otherwise the rest would never be handed
// out.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "server/policy/sizing/rules.h"
#include "server/policy/sizing/table.h"

namespace gleaner::policy {
namespace {

class Static final : public SizingStrategy {
 public:
  explicit Static(SizingMode mode) : mode_(mode) {}

  [[nodiscard]] Size size(const SizingView& view) const override {
    const WorkerView& worker = view.workers[view.requester];
    Size size{0, worker.used_performance, worker.current_size, {}};
    if (worker.requests > 0 && mode_ == SizingMode::paper) {
      size.reason = "static: this worker's share is handed out";
      return size;
    }
    const std::int64_t whole = worker.requests > 0 ? view.free : view.items;
    const char* name = worker.requests > 0 ? "the free items" : "all items";
    const FleetTotals fleet = fleet_of(view);
    if (mode_ == SizingMode::grid && rate_of(worker) > 0 && fleet.rate_sum > 0) {
      const double part = std::min(1.0, rate_of(worker) / fleet.rate_sum);
      size.items = std::llround(static_cast<double>(whole) * part);
      size.reason = because(view, "static: {:.3g} % of {} by measured rates", 100 * part, name);
    } else {
      size.items = share(view, whole);
      size.reason =
          because(view, "static: {} of {} by performance, {} workers", size.items, whole, fleet.workers);
      if (size.items == 0 && (mode_ == SizingMode::paper || !std::isfinite(view.limits.target_seconds))) {
        size.reason += ": fewer items than workers";
        return size;
      }
    }
    size.current_size = size.items;
    if (mode_ == SizingMode::grid) clamp_to_grid(view, size);
    clamp_to_free(view, size);
    return size;
  }
  [[nodiscard]] std::string text() const override { return fmt::format("static,mode={}", name_of(mode_)); }
  [[nodiscard]] SizingMode mode() const override { return mode_; }

 private:
  // (1)-(4); workers without a benchmark count as the slowest known one, and all alike if there is none.
  static std::int64_t share(const SizingView& view, std::int64_t whole) {
    const double slowest = fleet_of(view).slowest_performance;
    std::vector<double> weights;
    weights.reserve(view.workers.size());
    for (const WorkerView& worker : view.workers) {
      weights.push_back(worker.performance > 0 ? worker.performance : (slowest > 0 ? slowest : 1));
    }
    return proportional_shares(whole, weights)[view.requester];
  }

  SizingMode mode_;
};

}  // namespace

SizingEntry static_entry() {
  return {{"static", "one share for each worker, by its benchmark", "Qureshi and Hatanaka 1999, (1)-(4)", {}},
          [](SizingOptions&, SizingMode mode) -> Result<std::unique_ptr<SizingStrategy>> {
            return std::unique_ptr<SizingStrategy>(std::make_unique<Static>(mode));
          }};
}

}  // namespace gleaner::policy
