// SS, pure self-scheduling: one item at every request. P. Tang, P.-C. Yew, "Processor self-scheduling for
// multiple-nested parallel loops", Proc. ICPP 1986.
#include "server/policy/sizing/classics.h"

namespace gleaner::policy {
namespace {

class SelfScheduling final : public PublishedRule {
 public:
  explicit SelfScheduling(SizingMode mode) : PublishedRule(mode, "ss") {}
  [[nodiscard]] bool compares() const override { return false; }

 private:
  [[nodiscard]] Size published(const SizingView& view) const override {
    return size_of(view, 1, "ss: one item at a time");
  }
};

}  // namespace

SizingEntry ss_entry() {
  return {{"ss", "self-scheduling: one item at every request", "Tang and Yew 1986", {}},
          [](SizingOptions&, SizingMode mode) -> Result<std::unique_ptr<SizingStrategy>> {
            return std::unique_ptr<SizingStrategy>(std::make_unique<SelfScheduling>(mode));
          }};
}

}  // namespace gleaner::policy
