// MIS, master-initiated sizing: a probe of one item, then a share of what is left, from the measured
// performance of the worker against the sum of all [equations (5)-(9)].
#include <fmt/format.h>

#include <cmath>

#include "server/policy/sizing/rules.h"
#include "server/policy/sizing/table.h"

namespace gleaner::policy {
namespace {

struct MisSettings {
  SizingMode mode = SizingMode::grid;
  Hysteresis hysteresis = Hysteresis::a;
  double b = 0.35;
  double factor = 0;  // a constant F instead of (8); 0: (8)
};

class Mis final : public SizingStrategy {
 public:
  explicit Mis(const MisSettings& settings) : settings_(settings) {}

  [[nodiscard]] Size size(const SizingView& view) const override {
    const WorkerView& worker = view.workers[view.requester];
    Size size{1, worker.used_performance, 1, "mis: a probe of one item until it has returned one"};
    if (worker.returned > 0 && worker.rate > 0) {
      size.used_performance = gated(settings_.hysteresis, worker.rate, worker.used_performance);
      share(view, size);
    }
    if (settings_.mode == SizingMode::grid) clamp_to_grid(view, size);
    clamp_to_free(view, size);
    return size;
  }
  [[nodiscard]] std::string text() const override {
    const std::string factor = settings_.factor > 0 ? fmt::format("{}", settings_.factor) : "adaptive";
    return fmt::format("mis,mode={},hysteresis={},b={},factor={}", name_of(settings_.mode),
                       settings_.hysteresis == Hysteresis::a ? "a" : "b", settings_.b, factor);
  }
  [[nodiscard]] SizingMode mode() const override { return settings_.mode; }

 private:
  void share(const SizingView& view, Size& size) const {
    const WorkerView& worker = view.workers[view.requester];
    FleetTotals fleet = fleet_of(view);
    // The sums still hold the requester's performance from before; its new one may also be the least.
    const double before = worker.used_performance > 0 ? worker.used_performance : worker.rate;
    fleet.known_sum += size.used_performance - before;
    fleet.known_least = least(view, size.used_performance, fleet.known_least);
    const double sum = total_performance(fleet.known_sum, fleet.known_least, fleet.workers, fleet.known);
    const double normalised = sum > 0 ? size.used_performance / sum : 0;  // (7)
    const double factor = settings_.factor > 0
                              ? settings_.factor
                              : multiplication_factor(settings_.b, fleet.known, worker.requests);
    const double items = share_of_rest(factor * normalised, view.free, fleet.workers);
    size.items = std::max<std::int64_t>(1, std::llround(items));
    size.current_size = size.items;
    size.reason = because(
        view, "mis: {:.4g} of {} free by F = {:.4g} and {:.4g} of the performance of {} workers, {} known",
        items, view.free, factor, normalised, fleet.workers, fleet.known);
  }

  static double least(const SizingView& view, double fresh, double from_sums) {
    if (view.fleet.workers > 0) return std::min(fresh, from_sums);
    double least = fresh;
    for (std::size_t i = 0; i < view.workers.size(); ++i) {
      const WorkerView& other = view.workers[i];
      if (i == view.requester || other.returned <= 0) continue;
      const double performance = other.used_performance > 0 ? other.used_performance : other.rate;
      if (performance > 0) least = std::min(least, performance);
    }
    return least;
  }

  MisSettings settings_;
};

Result<std::unique_ptr<SizingStrategy>> make_mis(SizingOptions& options, SizingMode mode) {
  MisSettings settings;
  settings.mode = mode;
  TRY_ASSIGN(const int hysteresis, options.choice("hysteresis", {"a", "b"}, 0));
  settings.hysteresis = static_cast<Hysteresis>(hysteresis);
  TRY_ASSIGN(settings.b, options.number("b", 0.001, 100, settings.b));
  const Result<int> adaptive = options.choice("factor", {"adaptive"}, 0);
  if (!adaptive.ok()) {
    TRY_ASSIGN(settings.factor, options.number("factor", 0.001, 1e6, 0));
  }
  return std::unique_ptr<SizingStrategy>(std::make_unique<Mis>(settings));
}

}  // namespace

SizingEntry mis_entry() {
  return {
      {"mis",
       "a share of what is left, by measured performance",
       "Qureshi and Hatanaka 1999, (5)-(9)",
       {"hysteresis=a|b  take over a change of a quarter (a, default) or fourfold (b)",
        "b=NUMBER  of equation (8), default 0.35", "factor=adaptive|NUMBER  a constant F instead of (8)"}},
      make_mis};
}

}  // namespace gleaner::policy
