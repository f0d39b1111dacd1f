#include "tools/simulator/fluid.h"

#include <algorithm>
#include <limits>

#include "server/policy/stage/costs.h"

namespace gleaner::simulator {
namespace {

constexpr double longest = 10 * 365 * 86400.0;
constexpr double precision = 1e-9;
constexpr int steps_max = 200;

}  // namespace

Delivered delivered(const std::vector<GridHost>& hosts, double until) {
  Delivered all;
  for (const GridHost& host : hosts) {
    HostTrace trace(host);
    HostState state;
    HostEvent event;
    double time = 0, share = 0;
    while (trace.next(event) && event.at < until) {
      share += state.share() * (event.at - time);
      time = event.at;
      state.apply(event);
      if (state.vanished) break;
    }
    share += state.share() * (until - time);
    all.work += share * host.speed * host.slots;
    all.speed += state.share() * host.speed * host.slots;
  }
  return all;
}

// Newton's steps on a function that only grows and is piecewise straight, inside a bracket.
double fluid_time(const std::vector<GridHost>& hosts, double work) {
  double full = 0;
  for (const GridHost& host : hosts) full += host.speed * host.slots;
  double low = 0, high = std::max(1e-6, work / full);
  for (Delivered at = delivered(hosts, high); at.work < work; at = delivered(hosts, high)) {
    if (high > longest) return std::numeric_limits<double>::infinity();
    low = high;
    high = std::max(2 * high, at.speed > 0 ? std::min(high + (work - at.work) / at.speed, 8 * high) : 0);
  }
  double time = high;
  for (int step = 0; step < steps_max && high - low > precision * high; ++step) {
    const Delivered at = delivered(hosts, time);
    (at.work < work ? low : high) = time;
    const double newton = at.speed > 0 ? time + (work - at.work) / at.speed : low;
    if (std::abs(newton - time) <= precision * time) return newton;
    time = newton > low && newton < high ? newton : (low + high) / 2;
  }
  return high;
}

double ideal_makespan(const GridInstance& instance) {
  return fluid_time(instance.hosts, policy::Costs(instance.items, instance.costs).total());
}

}  // namespace gleaner::simulator
