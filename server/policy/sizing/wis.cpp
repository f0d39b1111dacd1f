// WIS, worker-initiated sizing: the worker proposes its size, its performance over that of the slowest
// worker, lessened by its present load [equations (10)-(12)], and the last 30 % are handed out in smaller
// units.
//
// The grid takes the proposal as a proportion (the slowest worker's is 1) and scales it so that the slowest
// worker is busy for the target duration; then it clamps by the requester's own measured rate.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "server/policy/sizing/rules.h"
#include "server/policy/sizing/table.h"

namespace gleaner::policy {
namespace {

enum class Shrink : int { single = 0, compound = 1, none = 2 };
constexpr const char* shrink_names[] = {"single", "compound", "none"};

// 0.7 / 0.1 is a 7 that binary fractions miss by the last bit; rounding down must not make a 6 of it.
double whole(double items) {
  return std::max(1.0, std::floor(std::min(items, 9e15) + 1e-9));
}

struct WisSettings {
  SizingMode mode = SizingMode::grid;
  Hysteresis hysteresis = Hysteresis::a;
  Shrink shrink = Shrink::single;
  double cut = 0.7;     // share of the items handed out from which units shrink
  double factor = 0.7;  // by which they do
};

class Wis final : public SizingStrategy {
 public:
  explicit Wis(const WisSettings& settings) : settings_(settings) {}

  [[nodiscard]] Size size(const SizingView& view) const override {
    const WorkerView& worker = view.workers[view.requester];
    const FleetTotals fleet = fleet_of(view);
    Size size;
    const double proposal = propose(view, fleet, size);
    const double scale = settings_.mode == SizingMode::grid ? grid_scale(view, fleet) : 1;
    if (scale != 1)
      size.reason +=
          because(view, ", times {:.4g} for the target of {:.3g} s", scale, view.limits.target_seconds);
    const double suggestion = whole(proposal * scale);
    size.items = static_cast<std::int64_t>(suggestion);
    shrink(view, worker, proposal * scale, suggestion, size);
    if (settings_.mode == SizingMode::grid) clamp_to_grid(view, size);
    clamp_to_free(view, size);
    return size;
  }
  [[nodiscard]] std::string text() const override {
    return fmt::format("wis,mode={},hysteresis={},shrink={},cut={},factor={}", name_of(settings_.mode),
                       settings_.hysteresis == Hysteresis::a ? "a" : "b",
                       shrink_names[static_cast<int>(settings_.shrink)], settings_.cut, settings_.factor);
  }
  [[nodiscard]] SizingMode mode() const override { return settings_.mode; }

 private:
  // (10)-(12), with the hysteresis on the current performance.
  double propose(const SizingView& view, const FleetTotals& fleet, Size& size) const {
    const WorkerView& worker = view.workers[view.requester];
    if (settings_.mode == SizingMode::grid && worker.proposed_items > 0) {
      size.used_performance = worker.performance;
      size.reason = because(view, "wis: the worker proposes {:.4g}", worker.proposed_items);
      return worker.proposed_items;
    }
    const double slowest = fleet.slowest_performance;
    const double unloaded = worker.performance > 0 ? worker.performance : (slowest > 0 ? slowest : 1);
    const double loaded = unloaded * worker.queue_unloaded / std::max(worker.queue_current, 1e-9);
    size.used_performance = gated(settings_.hysteresis, loaded, worker.used_performance);
    const double initial = slowest > 0 ? unloaded / slowest : 1;
    const double proposal = initial * (size.used_performance / unloaded);
    size.reason =
        because(view, "wis: {:.4g} times the slowest worker, {:.4g} at its present load", initial, proposal);
    return proposal;
  }

  // What a proposal of 1 is worth: the items that the slowest worker computes in the target duration.
  static double grid_scale(const SizingView& view, const FleetTotals& fleet) {
    if (!std::isfinite(view.limits.target_seconds) || fleet.slowest_rate <= 0) return 1;
    return fleet.slowest_rate * view.limits.target_seconds;
  }

  void shrink(const SizingView& view, const WorkerView& worker, double proposal, double suggestion,
              Size& size) const {
    const auto handed = static_cast<double>(view.items - view.free);
    // What compound shrinking keeps is how often it has shrunk this worker's units: the size itself is not
    // whole.
    size.current_size = settings_.shrink == Shrink::compound ? worker.current_size : size.items;
    if (settings_.shrink == Shrink::none || handed < settings_.cut * static_cast<double>(view.items)) return;
    if (settings_.shrink == Shrink::compound) {
      size.current_size = worker.current_size + 1;
      double shrunk = proposal;
      for (std::int64_t i = 0; i < size.current_size && shrunk > 1; ++i) shrunk *= settings_.factor;
      size.items = static_cast<std::int64_t>(whole(shrunk));
    } else {
      size.items = static_cast<std::int64_t>(whole(settings_.factor * suggestion));
    }
    size.reason +=
        because(view, "; {} % handed out, so {} instead of {:.0f}",
                std::floor(100 * handed / static_cast<double>(view.items)), size.items, suggestion);
  }

  WisSettings settings_;
};

Result<std::unique_ptr<SizingStrategy>> make_wis(SizingOptions& options, SizingMode mode) {
  WisSettings settings;
  settings.mode = mode;
  TRY_ASSIGN(const int hysteresis, options.choice("hysteresis", {"a", "b"}, 0));
  settings.hysteresis = static_cast<Hysteresis>(hysteresis);
  TRY_ASSIGN(const int shrink, options.choice("shrink", {"single", "compound", "none"}, 0));
  settings.shrink = static_cast<Shrink>(shrink);
  TRY_ASSIGN(settings.cut, options.number("cut", 0, 1, settings.cut));
  TRY_ASSIGN(settings.factor, options.number("factor", 0.01, 1, settings.factor));
  return std::unique_ptr<SizingStrategy>(std::make_unique<Wis>(settings));
}

}  // namespace

SizingEntry wis_entry() {
  return {{"wis",
           "the worker proposes, from its performance and load",
           "Qureshi and Hatanaka 1999, (10)-(12)",
           {"shrink=single|compound|none  how units shrink near the end",
            "hysteresis=a|b  take over a change of a quarter (a, default) or fourfold (b)",
            "cut=NUMBER  share handed out from which they shrink, default 0.7",
            "factor=NUMBER  by which they shrink, default 0.7"}},
          make_wis};
}

}  // namespace gleaner::policy
