#include "client/policy/heat.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace gleaner::client_policy {
namespace {

std::string says(const Heat::Reading& one) {
  char degrees[32];
  std::snprintf(degrees, sizeof degrees, "%.1f", one.degrees);
  return one.sensor + " says " + degrees + " degrees";
}

bool is_possible(double degrees) {
  return std::isfinite(degrees) && degrees >= Heat::degrees_low && degrees <= Heat::degrees_high;
}

}  // namespace

bool Heat::frozen(const Reading& one, const std::vector<Reading>& all, double degrees_max,
                  SteadyTime now) const {
  if (one.degrees < degrees_max) return false;
  bool alone = true;
  for (const Reading& other : all) {
    if (other.sensor == one.sensor || !is_possible(other.degrees)) continue;
    alone = false;
    if (other.degrees > one.degrees - others_cooler) return false;
  }
  return now - seen_.at(one.sensor).since >= (alone ? frozen_alone : frozen_beside_others);
}

void Heat::step(double hottest, double degrees_max, SteadyTime now) {
  const Duration since = stepped_at_ ? std::chrono::duration_cast<Duration>(now - *stepped_at_) : step_up;
  const bool down = hottest >= degrees_max - warm && step_ < steps && since >= step_down;
  const bool up = hottest < degrees_max - well && step_ > 0 && since >= step_up;
  if (!down && !up) return;
  step_ += down ? 1 : -1;
  stepped_at_ = now;
}

Heat::Verdict Heat::judge(const std::vector<Reading>& readings, double degrees_max, SteadyTime now) {
  std::map<std::string, Seen> seen;
  for (const Reading& one : readings) {
    const auto before = seen_.find(one.sensor);
    const bool same = before != seen_.end() && before->second.degrees == one.degrees;
    seen[one.sensor] = same ? before->second : Seen{one.degrees, now};
  }
  seen_ = std::move(seen);
  Verdict verdict;
  for (const Reading& one : readings) {
    if (!is_possible(one.degrees))
      verdict.set_aside.push_back(says(one) + ", which no processor has: not believed");
    else if (frozen(one, readings, degrees_max, now))
      verdict.set_aside.push_back(says(one) + " without any change: not believed");
    else if (!verdict.hottest || one.degrees > verdict.hottest->degrees)
      verdict.hottest = one;
  }
  if (!verdict.hottest) {
    stopped_ = false;
    step_ = 0;
    return verdict;
  }
  const double hottest = verdict.hottest->degrees;
  stopped_ = hottest >= degrees_max - (stopped_ ? cooling : 0);
  step(hottest, degrees_max, now);
  verdict.stop = stopped_;
  verdict.share = 1 - static_cast<double>(step_) / (steps + 1);
  return verdict;
}

}  // namespace gleaner::client_policy
