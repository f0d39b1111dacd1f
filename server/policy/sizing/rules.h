// The equations behind the sizing strategies, each alone so that it can be checked against hand-made numbers.
// Source: Qureshi and Hatanaka 1999, equations (1)-(12), read and rounded as
// server/policy/sizing/SIZING.md says. All functions are pure.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "server/policy/sizing/sizing.h"

namespace gleaner::policy {

// (4) shares of `items` in proportion to `weights`, rounded by largest remainder (ties: lower index), so that
// the sum is exact. REQUIRES: at least one weight > 0, none negative.
[[nodiscard]] std::vector<std::int64_t> proportional_shares(std::int64_t items,
                                                            std::span<const double> weights);

// (6) the sum of performances, each unknown worker counted as the least of the known ones.
[[nodiscard]] double total_performance(double known_sum, double known_least, std::int64_t workers,
                                       std::int64_t known);

// (8) F = b * K * (1 - K^(-R/3)); 0 for K <= 1.
[[nodiscard]] double multiplication_factor(double b, std::int64_t known, std::int64_t requests);

// (9) solved for t: x * Tb / (Wt + x).
[[nodiscard]] double share_of_rest(double x, std::int64_t free, std::int64_t workers);

// When a changed performance is taken over: A for a change of a quarter or more, B for a fourfold change or
// more.
enum class Hysteresis : int { a = 0, b = 1 };
// The performance to use from now on: `fresh`, or `used` while the change is inside the band. `used` 0:
// fresh.
[[nodiscard]] double gated(Hysteresis mode, double fresh, double used);

// Items a second: as measured, or else as estimated from the benchmark.
[[nodiscard]] double rate_of(const WorkerView& worker);

// What the strategies need of all workers: view.fleet if the caller filled it in, else summed over
// view.workers.
[[nodiscard]] FleetTotals fleet_of(const SizingView& view);
// The same of what finished units say (`timed` and `times_*`), which fleet_of() leaves out.
[[nodiscard]] FleetTotals fleet_times_of(const SizingView& view);

// Adds (or, with a negative number, takes away) `slots` workers with these times.
void add_times(FleetTotals& fleet, const WorkTimes& times, std::int64_t slots);

// Standard deviation over mean; 0 for fewer than two numbers, or none above 0.
[[nodiscard]] double variation_of(std::span<const double> costs);

// The sentence of a Size, where anybody reads it: it costs more than the size.
template <typename... Arguments>
[[nodiscard]] std::string because(const SizingView& view, fmt::format_string<Arguments...> text,
                                  Arguments&&... arguments) {
  return view.explain ? fmt::format(text, std::forward<Arguments>(arguments)...) : std::string();
}

// Grid mode: clamps size.items by target duration, half a lease and minimum duration, at the requester's
// rate; while no rate is known at all, by a twentieth of the pool. Adds to size.reason what clamped it.
// Nothing changes where view.limits are the paper's (infinite).
void clamp_to_grid(const SizingView& view, Size& size);

// max(1, min(size.items, view.free)).
void clamp_to_free(const SizingView& view, Size& size);

}  // namespace gleaner::policy
