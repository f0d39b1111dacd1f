// RTS, run-time task scheduling: one item at a time [WIS paper, section on RTS].
#include <fmt/format.h>

#include "server/policy/sizing/rules.h"
#include "server/policy/sizing/table.h"

namespace gleaner::policy {
namespace {

class Rts final : public SizingStrategy {
 public:
  explicit Rts(SizingMode mode) : mode_(mode) {}

  [[nodiscard]] Size size(const SizingView& view) const override {
    Size size{1, view.workers[view.requester].used_performance, 1, "rts: one item at a time"};
    if (mode_ == SizingMode::grid) clamp_to_grid(view, size);
    clamp_to_free(view, size);
    return size;
  }
  [[nodiscard]] std::string text() const override { return fmt::format("rts,mode={}", name_of(mode_)); }
  [[nodiscard]] SizingMode mode() const override { return mode_; }
  [[nodiscard]] bool compares() const override { return false; }

 private:
  SizingMode mode_;
};

}  // namespace

SizingEntry rts_entry() {
  return {{"rts", "one item at every request", "Qureshi and Hatanaka 1999, run-time task scheduling", {}},
          [](SizingOptions&, SizingMode mode) -> Result<std::unique_ptr<SizingStrategy>> {
            return std::unique_ptr<SizingStrategy>(std::make_unique<Rts>(mode));
          }};
}

}  // namespace gleaner::policy
