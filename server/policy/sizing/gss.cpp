// GSS, guided self-scheduling: ceil(R/p) of the R items that are left, never fewer than `min`. C. D.
// Polychronopoulos, D. J. Kuck, "Guided self-scheduling: a practical scheduling scheme for parallel
// supercomputers", IEEE Trans. Computers C-36(12), 1987: GSS(k).
#include <fmt/format.h>

#include <algorithm>

#include "server/policy/sizing/classics.h"

namespace gleaner::policy {
namespace {

class Guided final : public PublishedRule {
 public:
  Guided(SizingMode mode, std::int64_t least)
      : PublishedRule(mode, fmt::format("gss,min={}", least)), least_(least) {}

 private:
  [[nodiscard]] Size published(const SizingView& view) const override {
    const std::int64_t workers = workers_of(view);
    const std::int64_t part = divided_up(view.free, workers);
    if (part < least_) return size_of(view, least_, because(view, "gss: the least, {}", least_));
    return size_of(view, part, because(view, "gss: one of {} parts of {} free", workers, view.free));
  }

  std::int64_t least_;
};

}  // namespace

SizingEntry gss_entry() {
  return {{"gss",
           "an even part of what is left",
           "Polychronopoulos and Kuck 1987",
           {"min=ITEMS  never fewer, default 1"}},
          [](SizingOptions& options, SizingMode mode) -> Result<std::unique_ptr<SizingStrategy>> {
            TRY_ASSIGN(const std::int64_t least, whole_option(options, "min", 1));
            return std::unique_ptr<SizingStrategy>(std::make_unique<Guided>(mode, least));
          }};
}

}  // namespace gleaner::policy
