#include "tools/simulator/machine_model.h"

#include <algorithm>
#include <limits>

namespace gleaner::simulator {

ForeignLoad::ForeignLoad(const MachineModel& model, std::uint64_t worker)
    : random_(model.seed * 1'000'003 + worker),
      busy_mean_(model.busy_seconds),
      free_mean_(model.busy_share > 0 ? model.busy_seconds * (1 - model.busy_share) / model.busy_share : 0),
      until_(std::numeric_limits<double>::infinity()) {
  if (free_mean_ <= 0) return;
  busy_ = random_.chance(model.busy_share);
  until_ = random_.exponential(busy_ ? busy_mean_ : free_mean_);
}

void ForeignLoad::forward(double time) {
  while (until_ <= time) {
    busy_ = !busy_;
    until_ += random_.exponential(busy_ ? busy_mean_ : free_mean_);
  }
}

int ForeignLoad::jobs(double time) {
  forward(time);
  return busy_ ? 1 : 0;
}

double ForeignLoad::finish(double start, double cpu_seconds) {
  double now = start;
  for (;;) {
    forward(now);
    const double pace = busy_ ? 0.5 : 1.0;
    const double here = (until_ - now) * pace;
    if (cpu_seconds <= here) return now + cpu_seconds / pace;
    cpu_seconds -= here;
    now = until_;
  }
}

}  // namespace gleaner::simulator
