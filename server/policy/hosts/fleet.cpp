#include "server/policy/hosts/fleet.h"

#include <algorithm>

#include "server/policy/rules/rules.h"
#include "server/policy/sizing/rules.h"
#include "shared/base/check.h"

namespace gleaner::policy {
namespace {

void put(Greatest& values, std::size_t place, bool listed, double value) {
  if (listed) {
    values.set(place, value);
  } else {
    values.remove(place);
  }
}

}  // namespace

void Fleet::in(const HostRecord& record, int slots_on) {
  count(record, slots_on, 1);
}

void Fleet::out(const HostRecord& record, int slots_on) {
  count(record, slots_on, -1);
  // Sums of differences drift by rounding; where nothing is left they start afresh.
  if (known_ == 0) known_rate_ = both_rate_ = both_performance_ = 0;
  if (slots_on_ == 0) on_rate_ = on_performance_ = 0;
  if (benchmarked_ == 0) benchmark_sum_ = 0;
  if (times_.timed == 0) times_ = {};
}

void Fleet::count(const HostRecord& record, int slots_on, int sign) {
  hosts_ += sign;
  slots_ += sign * record.slots;
  slots_on_ += sign * slots_on;
  if (record.items_accepted > 0) slots_proven_ += sign * slots_on;
  add_times(times_, record.times, sign * record.slots);
  if (record.performance > 0) {
    benchmarked_ += sign * record.slots;
    benchmark_sum_ += sign * record.slots * record.performance;
  }
  if (record.rate > 0) {
    known_ += sign;
    known_rate_ += sign * record.rate;
    on_rate_ += sign * slots_on * record.rate;
    if (record.performance > 0) {
      both_rate_ += sign * record.rate;
      both_performance_ += sign * record.performance;
    }
    return;
  }
  if (record.performance > 0) {
    on_performance_ += sign * slots_on * record.performance;
    on_benchmarked_ += sign * slots_on;
  } else {
    on_unknown_ += sign * slots_on;
  }
}

std::size_t Fleet::add(const HostRecord& record, int slots_on) {
  in(record, slots_on);
  list(places_, keys_of(record, slots_on));
  return places_++;
}

void Fleet::list(std::size_t place, const Keys& keys) {
  const bool measured = keys.rate > 0, benchmarked = keys.performance > 0;
  put(least_performance_, place, benchmarked, -keys.performance);
  put(least_rate_, place, measured, -keys.rate);
  put(greatest_rate_on_, place, measured && keys.on, keys.rate);
  put(least_unmeasured_, place, !measured && benchmarked, -keys.performance);
  put(greatest_unmeasured_on_, place, !measured && benchmarked && keys.on, keys.performance);
}

void Fleet::relist(std::size_t place, const Keys& before, const Keys& now) {
  if (before == now) return;
  if (before.rate > 0 && now.rate > 0 && before.performance == now.performance && before.on == now.on) {
    least_rate_.set(place, -now.rate);  // a measurement: the most frequent change
    if (now.on) greatest_rate_on_.set(place, now.rate);
    return;
  }
  list(place, now);
}

double Fleet::worth() const {
  return numbers::benchmark_discount *
         (both_performance_ > 0 ? both_rate_ / both_performance_ : believed_worth_);
}

double Fleet::mean_rate() const {
  return slots_on_ > 0 ? rate_on() / static_cast<double>(slots_on_) : 0;
}

double Fleet::fastest_rate() const {
  const double measured = greatest_rate_on_.empty() ? 0 : greatest_rate_on_.value();
  return std::max(measured, greatest_unmeasured_on_.empty() ? 0 : greatest_unmeasured_on_.value() * worth());
}

double Fleet::rate(const HostRecord& record) const {
  if (record.rate > 0) return record.rate;
  if (record.performance > 0 && worth() > 0) return record.performance * worth();
  return known_ > 0 ? numbers::benchmark_discount * known_rate_ / static_cast<double>(known_) : 0;
}

double Fleet::rate_on() const {
  if (known_ == 0 && believed_worth_ <= 0) return 0;
  const double mean =
      known_ > 0 ? numbers::benchmark_discount * known_rate_ / static_cast<double>(known_) : 0;
  double sum = on_rate_ + mean * static_cast<double>(on_unknown_);
  sum += worth() > 0 ? on_performance_ * worth() : mean * static_cast<double>(on_benchmarked_);
  return sum > 0 ? sum : 0;
}

FleetTotals Fleet::totals(double mean_cost) const {
  FleetTotals totals;
  totals.workers = slots_ > 0 ? slots_ : 1;
  totals.known = known_;
  totals.known_sum = known_rate_ / mean_cost;
  totals.known_least = least_rate_.empty() ? 0 : -least_rate_.value() / mean_cost;
  totals.slowest_performance = least_performance_.empty() ? 0 : -least_performance_.value();
  totals.rate_sum = rate_on() / mean_cost;
  totals.slowest_rate = totals.known_least;
  if (!least_unmeasured_.empty() && worth() > 0) {
    const double least = -least_unmeasured_.value() * worth() / mean_cost;
    if (totals.slowest_rate <= 0 || least < totals.slowest_rate) totals.slowest_rate = least;
  }
  totals.performance_sum =
      benchmark_sum_ + totals.slowest_performance * static_cast<double>(slots_ - benchmarked_);
  // An item costs mean_cost: rates fall and seconds an item grow with it, and so does sigma^2 / mu.
  totals.timed = times_.timed;
  totals.times_rate_sum = times_.times_rate_sum / mean_cost;
  totals.times_rate_with_waiting_sum = times_.times_rate_with_waiting_sum / mean_cost;
  totals.times_mean_rate_sum = times_.times_mean_rate_sum / mean_cost;
  totals.times_variance_sum = times_.times_variance_sum;
  return totals;
}

}  // namespace gleaner::policy
