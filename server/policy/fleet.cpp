#include "server/policy/fleet.h"

#include "shared/base/check.h"

namespace gleaner::policy {
namespace {

// R1: "start from the benchmark x .85".
constexpr double benchmark_discount = 0.85;

void change(std::multiset<double>& values, double value, int sign) {
  if (sign > 0) {
    values.insert(value);
    return;
  }
  const auto place = values.find(value);
  CHECK_TRUE(place != values.end());
  values.erase(place);
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
}

void Fleet::count(const HostRecord& record, int slots_on, int sign) {
  hosts_ += sign;
  slots_ += sign * record.slots;
  slots_on_ += sign * slots_on;
  if (record.performance > 0) change(performances_, record.performance, sign);
  if (record.rate > 0) {
    known_ += sign;
    known_rate_ += sign * record.rate;
    on_rate_ += sign * slots_on * record.rate;
    change(rates_, record.rate, sign);
    if (record.performance > 0) {
      both_rate_ += sign * record.rate;
      both_performance_ += sign * record.performance;
    }
    return;
  }
  if (record.performance > 0) {
    on_performance_ += sign * slots_on * record.performance;
    on_benchmarked_ += sign * slots_on;
    change(unmeasured_, record.performance, sign);
  } else {
    on_unknown_ += sign * slots_on;
  }
}

double Fleet::worth() const {
  return both_performance_ > 0 ? benchmark_discount * both_rate_ / both_performance_ : 0;
}

double Fleet::rate(const HostRecord& record) const {
  if (record.rate > 0) return record.rate;
  if (record.performance > 0 && both_performance_ > 0) return record.performance * worth();
  return known_ > 0 ? benchmark_discount * known_rate_ / static_cast<double>(known_) : 0;
}

double Fleet::rate_on() const {
  if (known_ == 0) return 0;
  const double mean = benchmark_discount * known_rate_ / static_cast<double>(known_);
  double sum = on_rate_ + mean * static_cast<double>(on_unknown_);
  if (both_performance_ > 0) {
    sum += on_performance_ * worth();
  } else {
    sum += mean * static_cast<double>(on_benchmarked_);
  }
  return sum > 0 ? sum : 0;
}

FleetTotals Fleet::totals(double mean_cost) const {
  FleetTotals totals;
  totals.workers = slots_ > 0 ? slots_ : 1;
  totals.known = known_;
  totals.known_sum = known_rate_ / mean_cost;
  totals.known_least = rates_.empty() ? 0 : *rates_.begin() / mean_cost;
  totals.slowest_performance = performances_.empty() ? 0 : *performances_.begin();
  totals.rate_sum = rate_on() / mean_cost;
  totals.slowest_rate = totals.known_least;
  if (!unmeasured_.empty() && worth() > 0) {
    const double least = *unmeasured_.begin() * worth() / mean_cost;
    if (totals.slowest_rate <= 0 || least < totals.slowest_rate) totals.slowest_rate = least;
  }
  return totals;
}

}  // namespace gleaner::policy
