// WFAC, weighted factoring without batches: half of the requester's part of what is left, max(1, ceil(R PF_j
// / 2)). Ours, after Hummel, Schmidt, Uma and Wein 1996: the remedy for alpha-gss where a slow worker without
// a share of phase 1 takes the largest unit of phase 2 (server/policy/sizing/SIZING.md).
#include <fmt/format.h>

#include "server/policy/sizing/classics.h"

namespace gleaner::policy {
namespace {

class HalfOfPart final : public PublishedRule {
 public:
  HalfOfPart(SizingMode mode, PerformanceIndex index)
      : PublishedRule(mode, fmt::format("wfac,index={}", policy::name_of(index))), index_(index) {}

 private:
  [[nodiscard]] Size published(const SizingView& view) const override {
    const double part = performance_part(view, index_);
    return size_of(view, rounded_up(static_cast<double>(view.free) * part / 2),
                   because(view, "wfac: half of its {:.3g} % of {} free, by {}", 100 * part, view.free,
                           policy::name_of(index_)));
  }

  PerformanceIndex index_;
};

}  // namespace

SizingEntry wfac_entry() {
  return {{"wfac",
           "half of the worker's part of what is left, by known performance",
           "this project, after Hummel, Schmidt, Uma and Wein 1996",
           {performance_index_help}},
          [](SizingOptions& options, SizingMode mode) -> Result<std::unique_ptr<SizingStrategy>> {
            TRY_ASSIGN(const PerformanceIndex index, performance_index(options));
            return std::unique_ptr<SizingStrategy>(std::make_unique<HalfOfPart>(mode, index));
          }};
}

}  // namespace gleaner::policy
