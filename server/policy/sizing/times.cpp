// What finished units say of a worker: see WorkTimes in sizing.h.
#include <algorithm>

#include "server/policy/sizing/rules.h"
#include "server/policy/sizing/sizing.h"

namespace gleaner::policy {

void WorkTimes::add_unit(double unit_items, double unit_seconds, double elapsed) {
  if (unit_items <= 0 || unit_seconds <= 0) return;
  ++units;
  const auto weight = static_cast<double>(units);
  weighted_items += weight * unit_items;
  weighted_seconds += weight * unit_seconds;
  weighted_elapsed += weight * std::max(elapsed, unit_seconds);
}

void WorkTimes::add_piece(double piece_items, double piece_seconds) {
  if (piece_items <= 0 || piece_seconds < 0) return;
  pieces += 1;
  items += piece_items;
  seconds += piece_seconds;
  squares += piece_seconds * piece_seconds / piece_items;
}

WorkTimes WorkTimes::in_items_of(double factor) const {
  WorkTimes scaled = *this;
  scaled.weighted_items /= factor;
  scaled.items /= factor;
  scaled.squares *= factor;
  return scaled;
}

double WorkTimes::rate() const {
  return weighted_seconds > 0 ? weighted_items / weighted_seconds : 0;
}

double WorkTimes::rate_with_waiting() const {
  return weighted_elapsed > 0 ? weighted_items / weighted_elapsed : 0;
}

double WorkTimes::mean() const {
  return items > 0 ? seconds / items : 0;
}

// A piece of n items has the mean time of an item +- sigma / sqrt(n), so n (its mean - the mean)^2 is sigma^2
// in expectation, but for the one degree of freedom that the mean took.
double WorkTimes::variance() const {
  if (pieces < 2) return 0;
  const double spread = squares - mean() * mean() * items;
  // What is left of equal times after rounding is not a variance.
  return spread > 1e-12 * squares ? spread / (pieces - 1) : 0;
}

void add_times(FleetTotals& fleet, const WorkTimes& times, std::int64_t slots) {
  if (times.rate() <= 0 || times.mean() <= 0) return;
  const auto weight = static_cast<double>(slots);
  fleet.timed += slots;
  fleet.times_rate_sum += weight * times.rate();
  fleet.times_rate_with_waiting_sum += weight * times.rate_with_waiting();
  fleet.times_mean_rate_sum += weight / times.mean();
  fleet.times_variance_sum += weight * times.variance() / times.mean();
}

}  // namespace gleaner::policy
