// Gleaner's own sizing (server/policy/POLICY.md): far from the end every unit lasts a fixed share of the time
// that remains, between a shortest and a longest duration. What happens at the end is the straggler rule's
// business.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "server/policy/sizing/rules.h"
#include "server/policy/sizing/table.h"

namespace gleaner::policy {
namespace {

// While nothing is known of anybody's speed, a unit is this part of an even share.
constexpr std::int64_t unknown_part = 20;

struct GleanerSettings {
  SizingMode mode = SizingMode::grid;
  double f = 0;     // 0: as the stage's rules say; likewise below
  double tmin = 0;  // s
  double tmax = 0;  // s
};

// For views without limits (paper mode).
constexpr double default_f = 0.7, default_tmin = 60, default_tmax = 1200;

class Gleaner final : public SizingStrategy {
 public:
  explicit Gleaner(const GleanerSettings& settings) : settings_(settings) {}

  [[nodiscard]] Size size(const SizingView& view) const override {
    const WorkerView& worker = view.workers[view.requester];
    const FleetTotals fleet = fleet_of(view);
    Size size;
    size.used_performance = worker.used_performance;
    const double rate = rate_of(worker);
    if (rate <= 0 || fleet.rate_sum <= 0) {
      size.items = view.free / (unknown_part * std::max<std::int64_t>(1, fleet.workers));
      size.reason = because(view, "gleaner: no speed is known yet, a {}th of an even share", unknown_part);
    } else {
      const double remaining = view.remaining_seconds > 0 ? view.remaining_seconds
                                                          : static_cast<double>(view.free) / fleet.rate_sum;
      const double seconds = duration(view, remaining);
      size.items = std::llround(std::min(rate * seconds, 9e15));
      size.reason =
          because(view, "gleaner: {:.4g} s at {:.4g} items/s, {:.4g} s remain", seconds, rate, remaining);
    }
    clamp_to_free(view, size);
    size.current_size = size.items;
    return size;
  }
  [[nodiscard]] std::string text() const override {
    std::string text = fmt::format("gleaner,mode={}", name_of(settings_.mode));
    if (settings_.f > 0) text += fmt::format(",f={}", settings_.f);
    if (settings_.tmin > 0) text += fmt::format(",tmin={}", settings_.tmin);
    if (settings_.tmax > 0) text += fmt::format(",tmax={}", settings_.tmax);
    return text;
  }
  [[nodiscard]] SizingMode mode() const override { return settings_.mode; }

 private:
  [[nodiscard]] double duration(const SizingView& view, double remaining) const {
    const GridLimits& limits = view.limits;
    const double given = view.guided_fraction > 0 ? view.guided_fraction : default_f;
    const double f = settings_.f > 0 ? settings_.f : given;
    const double rules_least = limits.minimum_seconds > 0 ? limits.minimum_seconds : default_tmin;
    const double rules_most = std::isfinite(limits.maximum_seconds) ? limits.maximum_seconds : default_tmax;
    const double least = settings_.tmin > 0 ? settings_.tmin : rules_least;
    const double most = std::max(least, settings_.tmax > 0 ? settings_.tmax : rules_most);
    const double seconds = std::clamp(f * remaining, least, most);
    return std::min(seconds, 0.5 * limits.lease_seconds);
  }

  GleanerSettings settings_;
};

Result<std::unique_ptr<SizingStrategy>> make_gleaner(SizingOptions& options, SizingMode mode) {
  GleanerSettings settings;
  settings.mode = mode;
  TRY_ASSIGN(settings.f, options.number("f", 0.01, 10, 0));
  TRY_ASSIGN(settings.tmin, options.number("tmin", 0.01, 86400, 0));
  TRY_ASSIGN(settings.tmax, options.number("tmax", 0.01, 604800, 0));
  return std::unique_ptr<SizingStrategy>(std::make_unique<Gleaner>(settings));
}

}  // namespace

SizingEntry gleaner_entry() {
  return {{"gleaner",
           "a share of the time that remains, between a shortest and a longest duration",
           "Gleaner's own policy",
           {"f=NUMBER  the share, default 0.7", "tmin=SECONDS  shortest, default 60 (less in short stages)",
            "tmax=SECONDS  longest, default 1200 (less in short stages)"}},
          make_gleaner};
}

}  // namespace gleaner::policy
