#include "server/policy/sizing/rules.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "shared/base/check.h"

namespace gleaner::policy {
namespace {

// While nothing is known of anybody's speed, one unit takes at most this part of the pool.
constexpr std::int64_t unknown_divisor = 20;

// Doubles above this are not exact integers; sizes are clamped to the pool anyway.
constexpr double items_cap = 9e15;

std::int64_t floor_items(double items) {
  return static_cast<std::int64_t>(std::floor(std::min(items, items_cap)));
}

}  // namespace

std::vector<std::int64_t> proportional_shares(std::int64_t items, std::span<const double> weights) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  CHECK_TRUE(sum > 0);
  std::vector<std::int64_t> shares(weights.size());
  std::vector<double> remainders(weights.size());
  std::int64_t given = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    CHECK_TRUE(weights[i] >= 0);
    const double exact = static_cast<double>(items) * (weights[i] / sum);
    shares[i] = floor_items(exact);
    remainders[i] = exact - static_cast<double>(shares[i]);
    given += shares[i];
  }
  std::vector<std::size_t> order(weights.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // Equal weights must not be told apart by the last bit of a division.
  constexpr double same = 1e-9;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::floor(remainders[a] / same + 0.5) > std::floor(remainders[b] / same + 0.5);
  });
  for (std::size_t next = 0; given < items; next = (next + 1) % order.size()) {
    if (weights[order[next]] <= 0) continue;
    ++shares[order[next]];
    ++given;
  }
  // The other way only by rounding errors of sums beyond 2^53.
  for (std::size_t next = order.size(); given > items;) {
    next = (next == 0 ? order.size() : next) - 1;
    if (shares[order[next]] == 0) continue;
    --shares[order[next]];
    --given;
  }
  return shares;
}

double total_performance(double known_sum, double known_least, std::int64_t workers, std::int64_t known) {
  return known_sum + static_cast<double>(workers - known) * known_least;
}

double multiplication_factor(double b, std::int64_t known, std::int64_t requests) {
  if (known <= 1) return 0;
  const auto k = static_cast<double>(known);
  return b * k * (1 - std::pow(k, -static_cast<double>(requests) / 3));
}

double share_of_rest(double x, std::int64_t free, std::int64_t workers) {
  return x * static_cast<double>(free) / (static_cast<double>(workers) + x);
}

double gated(Hysteresis mode, double fresh, double used) {
  if (used <= 0 || fresh <= 0) return fresh > 0 ? fresh : used;
  const double ratio = std::min(fresh / used, used / fresh);
  const bool change = mode == Hysteresis::a ? 1 - ratio >= 0.25 : ratio <= 0.25;
  return change ? fresh : used;
}

double rate_of(const WorkerView& worker) {
  return worker.rate > 0 ? worker.rate : worker.rate_estimate;
}

FleetTotals fleet_of(const SizingView& view) {
  if (view.fleet.workers > 0) return view.fleet;
  FleetTotals fleet;
  fleet.workers = static_cast<std::int64_t>(view.workers.size());
  for (const WorkerView& worker : view.workers) {
    if (worker.performance > 0) {
      fleet.slowest_performance = fleet.slowest_performance > 0
                                      ? std::min(fleet.slowest_performance, worker.performance)
                                      : worker.performance;
    }
    if (worker.available) fleet.rate_sum += rate_of(worker);
    if (const double rate = rate_of(worker); rate > 0) {
      fleet.slowest_rate = fleet.slowest_rate > 0 ? std::min(fleet.slowest_rate, rate) : rate;
    }
    if (worker.returned <= 0) continue;
    const double performance = worker.used_performance > 0 ? worker.used_performance : worker.rate;
    if (performance <= 0) continue;
    ++fleet.known;
    fleet.known_sum += performance;
    fleet.known_least = fleet.known == 1 ? performance : std::min(fleet.known_least, performance);
  }
  for (const WorkerView& worker : view.workers) {
    fleet.performance_sum += worker.performance > 0 ? worker.performance : fleet.slowest_performance;
  }
  return fleet;
}

FleetTotals fleet_times_of(const SizingView& view) {
  if (view.fleet.workers > 0) return view.fleet;
  FleetTotals fleet;
  for (const WorkerView& worker : view.workers) add_times(fleet, worker.times, 1);
  return fleet;
}

double variation_of(std::span<const double> costs) {
  if (costs.size() < 2) return 0;
  double sum = 0, squares = 0;
  const auto count = static_cast<double>(costs.size());
  for (const double cost : costs) sum += cost;
  const double mean = sum / count;
  for (const double cost : costs) squares += (cost - mean) * (cost - mean);
  return mean > 0 ? std::sqrt(squares / count) / mean : 0;
}

void clamp_to_grid(const SizingView& view, Size& size) {
  const GridLimits& limits = view.limits;
  const double rate = rate_of(view.workers[view.requester]);
  const bool limited = std::isfinite(limits.target_seconds) || std::isfinite(limits.lease_seconds);
  if (rate <= 0) {
    const std::int64_t most = std::max<std::int64_t>(1, view.free / unknown_divisor);
    if (!limited || size.items <= most) return;
    size.reason += because(view, "; cut from {} to {}, a {}th of the pool, since no speed is known yet",
                           size.items, most, unknown_divisor);
    size.items = most;
    return;
  }
  if (const double most = rate * limits.target_seconds; static_cast<double>(size.items) > most) {
    size.reason +=
        because(view, "; cut from {} to {:.3g} s at {:.4g} items/s", size.items, limits.target_seconds, rate);
    size.items = floor_items(most);
  }
  if (const double most = 0.5 * rate * limits.lease_seconds; static_cast<double>(size.items) > most) {
    size.reason +=
        because(view, "; cut from {} to half a lease of {:.3g} s", size.items, limits.lease_seconds);
    size.items = floor_items(most);
  }
  if (limits.minimum_seconds <= 0) return;
  const double least = std::ceil(rate * limits.minimum_seconds);
  const double fleet_rate = fleet_of(view).rate_sum;
  const bool plenty = static_cast<double>(view.free) > fleet_rate * limits.minimum_seconds * 2;
  if (plenty && static_cast<double>(size.items) < least) {
    size.reason += because(view, "; raised from {} to {:.3g} s at {:.4g} items/s", size.items,
                           limits.minimum_seconds, rate);
    size.items = floor_items(least);
  }
}

void clamp_to_free(const SizingView& view, Size& size) {
  if (size.items > view.free) size.reason += because(view, "; only {} left", view.free);
  size.items = std::max<std::int64_t>(1, std::min(size.items, view.free));
}

}  // namespace gleaner::policy
