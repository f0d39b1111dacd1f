#include "tools/simulator/fluid.h"

#include <algorithm>
#include <limits>

#include "server/policy/ledger/costs.h"

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

std::vector<double> fair_ends(const GridInstance& instance) {
  constexpr double never = std::numeric_limits<double>::infinity();
  const std::vector<const GridProblem*> problems = instance.problems();
  std::vector<double> left, ends(problems.size(), never);
  for (const GridProblem* problem : problems)
    left.push_back(policy::Costs(problem->items, problem->costs).total());
  double time = 0;
  for (;;) {
    double shares = 0, next_arrival = never, smallest = never;
    int highest = std::numeric_limits<int>::min();
    for (std::size_t i = 0; i < problems.size(); ++i) {
      if (left[i] > 0 && problems[i]->arrives_at <= time) highest = std::max(highest, problems[i]->priority);
    }
    for (std::size_t i = 0; i < problems.size(); ++i) {
      const GridProblem& problem = *problems[i];
      if (left[i] <= 0) continue;
      if (problem.arrives_at > time) {
        next_arrival = std::min(next_arrival, problem.arrives_at);
        continue;
      }
      if (problem.priority < highest) continue;
      shares += problem.weight;
      smallest = std::min(smallest, left[i] / problem.weight);
    }
    if (shares == 0 && next_arrival == never) return ends;
    const double before = delivered(instance.hosts, time).work;
    double until = next_arrival, work = smallest * shares;  // until the first one ends
    if (shares > 0) {
      const double end = fluid_time(instance.hosts, before + work);
      if (end <= next_arrival) {
        if (end == never) return ends;
        until = end;
      } else {
        work = delivered(instance.hosts, until).work - before;
      }
    }
    for (std::size_t i = 0; i < problems.size() && shares > 0; ++i) {
      const GridProblem& problem = *problems[i];
      if (left[i] <= 0 || problem.arrives_at > time || problem.priority < highest) continue;
      const bool ended = until != next_arrival && left[i] / problem.weight <= smallest * (1 + 1e-9);
      left[i] = ended ? 0 : left[i] - work * problem.weight / shares;
      if (ended) ends[i] = until;
    }
    time = until;
  }
}

double ideal_makespan(const GridInstance& instance) {
  return fluid_time(instance.hosts, policy::Costs(instance.items, instance.costs).total());
}

}  // namespace gleaner::simulator
