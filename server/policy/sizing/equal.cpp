// Equal: static division without regard to speed, ceil or floor of N/p items for each worker, the first N mod
// p workers one more. The baseline of Yang, Shih and Tseng's performance-based loop self-scheduling ("static
// equal").
//
// The grid goes on from there: a share that was clamped, or a host that came after the division, gets an even
// part of what is still free.
#include <cmath>

#include "server/policy/sizing/classics.h"

namespace gleaner::policy {
namespace {

class Equal final : public PublishedRule {
 public:
  explicit Equal(SizingMode mode) : PublishedRule(mode, "equal") {}

 private:
  [[nodiscard]] Size published(const SizingView& view) const override {
    const WorkerView& worker = view.workers[view.requester];
    const std::int64_t workers = workers_of(view);
    if (worker.requests > 0) {
      if (mode() == SizingMode::paper) return size_of(view, 0, "equal: this worker's share is handed out");
      const std::int64_t part = divided_up(view.free, workers);
      return size_of(view, part, because(view, "equal: one of {} parts of {} free", workers, view.free));
    }
    const auto position = static_cast<std::int64_t>(view.requester);
    std::int64_t share = view.items / workers + (position < view.items % workers ? 1 : 0);
    if (share == 0) {
      if (mode() == SizingMode::paper || !std::isfinite(view.limits.target_seconds)) {
        return size_of(view, 0, "equal: fewer items than workers");
      }
      share = 1;
    }
    return size_of(view, share, because(view, "equal: one of {} parts of {}", workers, view.items));
  }
};

}  // namespace

SizingEntry equal_entry() {
  return {
      {"equal", "one even share for each worker", "Yang, Shih and Tseng, static scheduling (baseline)", {}},
      [](SizingOptions&, SizingMode mode) -> Result<std::unique_ptr<SizingStrategy>> {
        return std::unique_ptr<SizingStrategy>(std::make_unique<Equal>(mode));
      }};
}

}  // namespace gleaner::policy
