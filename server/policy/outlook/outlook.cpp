#include "server/policy/outlook/outlook.h"

#include <algorithm>
#include <cmath>

namespace gleaner::policy {
namespace {

// Of the estimate's logarithm. One delivery tells its rate to about a half of itself, and more tell it better
// by the root of their number; nothing delivered leaves the measured rates alone, which hints may mislead
// threefold.
constexpr double spread_of_one = 0.5;
constexpr double spread_of_none = 1.1;
// Of any estimate; and how swings of the rate, which last some minutes each, tell over what there is to go.
// With these the end lay within the interval 62 to 77 % of the times in outlook_test's fleets, away 0 to 40 %
// of the time.
constexpr double spread_least = 0.15;
constexpr double swings = 4;
constexpr double swing_seconds = 1200;
// Thirty years: an end further away is unknown. It comes from rates that have all but decayed.
constexpr double longest_seconds = 1e9;

}  // namespace

void Pace::delivered(Timestamp at, double cost, double seconds) {
  if (!any_) {
    begun_ = at - from_seconds(std::clamp(seconds, 1.0, windows.back()));
    last_ = at;
    any_ = true;
  }
  const double passed = std::max(0.0, to_seconds(at - last_));
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const double kept = std::exp(-passed / windows[i]);
    means_[i].cost = means_[i].cost * kept + cost;
    means_[i].deliveries = means_[i].deliveries * kept + 1;
  }
  last_ = std::max(last_, at);
  if (passed > 0) {
    const double kept = std::exp(-passed / windows[1]);
    const double swing = std::log(rate(0, last_) / rate(1, last_));
    if (!std::isfinite(swing)) return;  // nothing was delivered within one of the windows
    swing_.cost = swing_.cost * kept + swing * swing;
    swing_.deliveries = swing_.deliveries * kept + 1;
  }
}

double Pace::rate(std::size_t window, Timestamp now) const {
  const double kept = std::exp(-std::max(0.0, to_seconds(now - last_)) / windows[window]);
  const double seen =
      windows[window] * -std::expm1(-std::max(1.0, to_seconds(now - begun_)) / windows[window]);
  return means_[window].cost * kept / seen;
}

Pace::Rate Pace::over(double seconds, Timestamp now) const {
  if (!any_) return {};
  std::size_t chosen = 0;
  while (chosen + 1 < windows.size() && windows[chosen] < seconds) ++chosen;
  const double kept = std::exp(-std::max(0.0, to_seconds(now - last_)) / windows[chosen]);
  return {rate(chosen, now), means_[chosen].deliveries * kept,
          swing_.deliveries > 0 ? swing_.cost / swing_.deliveries : 0};
}

Forecast forecast(const Pace& pace, double cost_left, double fleet_rate, Timestamp now) {
  if (cost_left <= 0) return {0, 0, 0};
  if (!(fleet_rate > 0)) fleet_rate = pace.over(Pace::windows.back(), now).rate;
  if (!(fleet_rate > 0)) return {};
  const auto delivered = pace.over(cost_left / fleet_rate, now);
  double rate = fleet_rate, spread = spread_of_none;
  if (delivered.rate > 0) {
    rate = std::sqrt(fleet_rate * delivered.rate);
    const double apart = std::log(fleet_rate / delivered.rate) / 2;
    const double swung = swings * delivered.swing * std::min(1.0, swing_seconds * rate / cost_left);
    spread = std::sqrt(apart * apart + swung + spread_least * spread_least +
                       spread_of_one * spread_of_one / (1 + delivered.deliveries));
  }
  const double seconds = cost_left / rate;
  if (!(seconds <= longest_seconds)) return {};
  return {seconds, seconds * std::exp(-spread), std::min(seconds * std::exp(spread), longest_seconds)};
}

double done_of(double before, double accepted, double cost, double ahead) {
  const double whole = cost + std::max(0.0, ahead);
  if (!(whole > 0)) return before;
  return before + (1 - before) * std::clamp(accepted / whole, 0.0, 1.0);
}

double done_after(double before, double cost, double ahead, int stage) {
  if (ahead > 0) return done_of(before, cost, cost, ahead);
  return static_cast<double>(stage + 1) / static_cast<double>(stage + 2);
}

double waste_of(double before, double wasted, double cost, double ahead) {
  return cost > 0 ? (done_of(before, cost, cost, ahead) - before) * wasted / cost : 0;
}

double waste_after(double before_it, double wasted, double full, double next_before) {
  return full > 0 ? (before_it + wasted) * next_before / full : 0;
}

}  // namespace gleaner::policy
