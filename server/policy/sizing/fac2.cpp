// FAC2, practical factoring: half of what is left, in p equal units of ceil(R/2p) items, then half of the
// rest. S. F. Hummel, E. Schonberg, L. E. Flynn, "Factoring: a method for scheduling parallel loops", Comm.
// ACM 35(8), 1992: x = 2.
#include "server/policy/sizing/classics.h"

namespace gleaner::policy {
namespace {

class Factoring2 final : public PublishedRule {
 public:
  explicit Factoring2(SizingMode mode) : PublishedRule(mode, "fac2") {}

 private:
  [[nodiscard]] Size published(const SizingView& view) const override {
    const std::int64_t workers = workers_of(view);
    const StageMemory memory = next_in_batch(view, workers);
    Size size = size_of(view, divided_up(memory.base, 2 * workers),
                        because(view, "fac2: one of {} equal parts of half of {}", workers, memory.base));
    size.memory = memory;
    return size;
  }
};

}  // namespace

SizingEntry fac2_entry() {
  return {{"fac2",
           "batches: half of what is left, in equal units",
           "Hummel, Schonberg and Flynn 1992, x = 2",
           {}},
          [](SizingOptions&, SizingMode mode) -> Result<std::unique_ptr<SizingStrategy>> {
            return std::unique_ptr<SizingStrategy>(std::make_unique<Factoring2>(mode));
          }};
}

}  // namespace gleaner::policy
