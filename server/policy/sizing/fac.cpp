// FAC, factoring: batches of p units of equal size, chosen so that the batch is likely to end together for
// the mean mu and the deviation sigma of an item's time. S. F. Hummel, E. Schonberg, L. E. Flynn, "Factoring:
// a method for scheduling parallel loops", Comm. ACM 35(8), 1992: with R items left at the beginning of a
// batch
//   b = p sigma / (2 mu sqrt R),  x = 1 + b^2 + b sqrt(b^2 + 2) for the first batch of all items,
//   x = 2 + b^2 + b sqrt(b^2 + 4) after it,  size = ceil(R / (x p)).
// Where sigma is not known the same paper takes x = 2 (which is fac2): the default here too.
#include <fmt/format.h>

#include <cmath>

#include "server/policy/sizing/classics.h"

namespace gleaner::policy {
namespace {

struct FacSettings {
  double mean = 1;
  double deviation = -1;    // negative: not given
  bool from_costs = false;  // sigma / mu of the cost hints
};

class Factoring final : public PublishedRule {
 public:
  Factoring(SizingMode mode, const FacSettings& settings)
      : PublishedRule(mode, text_of(settings)), settings_(settings) {}

 private:
  static std::string text_of(const FacSettings& settings) {
    if (settings.from_costs) return "fac,known=costs";
    if (settings.deviation < 0) return "fac,known=no";
    return fmt::format("fac,mean={},sd={}", settings.mean, settings.deviation);
  }

  [[nodiscard]] Size published(const SizingView& view) const override {
    const std::int64_t workers = workers_of(view);
    const StageMemory memory = next_in_batch(view, workers);
    const double x = divisor(view, memory.base, workers);
    const std::int64_t items =
        x == 2 ? divided_up(memory.base, 2 * workers)
               : rounded_up(static_cast<double>(memory.base) / (x * static_cast<double>(workers)));
    Size size = size_of(view, items,
                        because(view, "fac: one of {} units of the batch that takes 1/{:.3g} of {}", workers,
                                x, memory.base));
    size.memory = memory;
    return size;
  }

  [[nodiscard]] double divisor(const SizingView& view, std::int64_t base, std::int64_t workers) const {
    if (settings_.deviation < 0 && !settings_.from_costs) return 2;
    const double variation =
        settings_.from_costs ? view.cost_variation : settings_.deviation / settings_.mean;
    const double b = static_cast<double>(workers) * variation / (2 * std::sqrt(static_cast<double>(base)));
    if (base == view.items) return 1 + b * b + b * std::sqrt(b * b + 2);
    return 2 + b * b + b * std::sqrt(b * b + 4);
  }

  FacSettings settings_;
};

Result<std::unique_ptr<SizingStrategy>> make_fac(SizingOptions& options, SizingMode mode) {
  FacSettings settings;
  TRY_ASSIGN(const int known, options.choice("known", {"no", "costs"}, 0));
  settings.from_costs = known == 1;
  TRY_ASSIGN(settings.mean, options.number("mean", 1e-12, 1e12, 1));
  TRY_ASSIGN(settings.deviation, options.number("sd", 0, 1e12, -1));
  if (options.has("mean") != options.has("sd") || (options.has("sd") && options.has("known"))) {
    return Error{
        ErrorKind::invalid,
        "strategy 'fac': give mean=SECONDS and sd=SECONDS of an item together, or known=costs to take them "
        "from the cost hints, or none of these"};
  }
  return std::unique_ptr<SizingStrategy>(std::make_unique<Factoring>(mode, settings));
}

}  // namespace

SizingEntry fac_entry() {
  return {{"fac",
           "batches of equal units, by mean and deviation of an item's time",
           "Hummel, Schonberg and Flynn 1992",
           {"mean=SECONDS,sd=SECONDS  of an item's time; without them half of what is left is a batch",
            "known=no|costs  costs: mean and deviation of the cost hints"}},
          make_fac};
}

}  // namespace gleaner::policy
