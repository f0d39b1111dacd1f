// WF, weighted factoring: the batches of FAC2, a unit of ceil(R PF_j / 2) items for a worker with the part
// PF_j of the sum of all performances. S. F. Hummel, J. Schmidt, R. N. Uma, J. Wein, "Load-sharing in
// heterogeneous systems via weighted factoring", Proc. SPAA 1996. The weights are fixed: known before the
// first item is computed.
#include <fmt/format.h>

#include "server/policy/sizing/classics.h"

namespace gleaner::policy {
namespace {

class WeightedFactoring final : public PublishedRule {
 public:
  WeightedFactoring(SizingMode mode, PerformanceIndex index)
      : PublishedRule(mode, fmt::format("wf,index={}", policy::name_of(index))), index_(index) {}

 private:
  [[nodiscard]] Size published(const SizingView& view) const override {
    const StageMemory memory = next_in_batch(view, workers_of(view));
    const double part = performance_part(view, index_);
    Size size = size_of(
        view, rounded_up(static_cast<double>(memory.base) * part / 2),
        because(view, "wf: {:.3g} % of half of {}, by {}", 100 * part, memory.base, policy::name_of(index_)));
    size.memory = memory;
    return size;
  }

  PerformanceIndex index_;
};

}  // namespace

SizingEntry wf_entry() {
  return {{"wf",
           "batches: half of what is left, in units by known performance",
           "Hummel, Schmidt, Uma and Wein 1996",
           {performance_index_help}},
          [](SizingOptions& options, SizingMode mode) -> Result<std::unique_ptr<SizingStrategy>> {
            TRY_ASSIGN(const PerformanceIndex index, performance_index(options));
            return std::unique_ptr<SizingStrategy>(std::make_unique<WeightedFactoring>(mode, index));
          }};
}

}  // namespace gleaner::policy
