#include "client/engine/computing_time.h"

#include <algorithm>

namespace gleaner::engine {
namespace {
// Of processor time in a watch_interval, a hundredth: whoever computes and sleeps uses more, and a kernel
// that wakes up only to say that it is there does not.
constexpr Duration still_max = ComputingTime::watch_interval / 100;
}  // namespace

void ComputingTime::start_unit(Duration cpu, SteadyTime now) {
  charged_at_ = watched_ = now;
  asleep_ = on_item_ = Duration{0};
  cpu_at_item_ = cpu_watched_ = cpu;
}

void ComputingTime::charge(Unit& unit, Duration cpu, int threads, State state, SteadyTime now) {
  unit.cpu_time += std::max(Duration{0}, cpu - cpu_charged_);
  cpu_charged_ = cpu;
  if (state == State::running) {
    unit.run_time += now - charged_at_;
    unit.core_time += threads * (now - charged_at_);
  }
  charged_at_ = now;
}

// Sleeping and no processor time used: asked twice, so that a kernel seen between two bursts does not count.
client_policy::HangVerdict ComputingTime::watch(Duration cpu, bool asleep, double item_seconds, int threads,
                                                SteadyTime now) {
  const bool still = cpu - cpu_watched_ < still_max && asleep;
  asleep_ = still ? asleep_ + (now - watched_) : Duration{0};
  cpu_watched_ = cpu;
  on_item_ += std::min(now - watched_, 10 * watch_interval);  // the client itself may have stood still
  watched_ = now;
  return client_policy::judge({asleep_, cpu - cpu_at_item_, on_item_, item_seconds, threads});
}

}  // namespace gleaner::engine
