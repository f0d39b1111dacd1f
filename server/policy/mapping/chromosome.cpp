#include "server/policy/mapping/chromosome.h"

#include <algorithm>
#include <cmath>

namespace gleaner::policy {

DenseCosts::DenseCosts(const MappingInput& input, const MappingCosts& costs)
    : tasks_(costs.tasks()), hosts_(costs.hosts()) {
  double forbidden = 1;
  for (const std::size_t host : hosts_) {
    start_.push_back(input.start[host]);
    forbidden += input.start[host];
  }
  for (const std::size_t task : tasks_) {
    double largest = 0;
    for (const std::size_t host : hosts_) {
      values_.push_back(costs(task, host));
      if (std::isfinite(costs(task, host))) largest = std::max(largest, costs(task, host));
    }
    forbidden += largest;
  }
  for (double& value : values_) {
    if (!std::isfinite(value)) value = forbidden;
  }
}

std::vector<Gene> DenseCosts::encode(const std::vector<std::vector<std::size_t>>& queues) const {
  std::vector<Gene> genes;
  auto delimiter = static_cast<Gene>(tasks_.size());
  for (std::size_t host = 0; host < hosts_.size(); ++host) {
    if (host > 0) genes.push_back(delimiter++);
    for (const std::size_t task : queues[hosts_[host]]) {
      const auto found = std::lower_bound(tasks_.begin(), tasks_.end(), task);
      genes.push_back(static_cast<Gene>(found - tasks_.begin()));
    }
  }
  return genes;
}

std::vector<std::vector<std::size_t>> DenseCosts::decode(const std::vector<Gene>& genes,
                                                         const MappingInput& input,
                                                         const MappingCosts& costs) const {
  std::vector<std::vector<std::size_t>> queues(input.hosts());
  std::vector<std::size_t> homeless;
  MappingDraft plan(input, costs);
  std::size_t host = 0;
  for (const Gene gene : genes) {
    const auto index = static_cast<std::size_t>(gene);
    if (index >= tasks_.size()) {
      ++host;
    } else if (std::isfinite(costs(tasks_[index], hosts_[host]))) {
      queues[hosts_[host]].push_back(tasks_[index]);
      plan.place(tasks_[index], hosts_[host]);
    } else {
      homeless.push_back(tasks_[index]);
    }
  }
  for (const std::size_t task : homeless) {
    const std::size_t best = plan.best_host(task);
    queues[best].push_back(task);
    plan.place(task, best);
  }
  return queues;
}

Load evaluate(const DenseCosts& costs, const std::vector<Gene>& genes, std::vector<double>& loads) {
  loads.resize(costs.hosts());
  const auto tasks = static_cast<Gene>(costs.tasks());
  std::size_t host = 0;
  double load = costs.start(0);
  for (const Gene gene : genes) {
    if (gene < tasks) {
      load += costs(static_cast<std::size_t>(gene), host);
    } else {
      loads[host++] = load;
      load = costs.start(host);
    }
  }
  loads[host] = load;
  Load all{loads[0], loads[0], 0};
  for (const double one : loads) {
    all.makespan = std::max(all.makespan, one);
    all.least = std::min(all.least, one);
    all.mean += one;
  }
  all.mean /= static_cast<double>(loads.size());
  return all;
}

void cycle_crossover(std::vector<Gene>& a, std::vector<Gene>& b, std::vector<std::size_t>& places,
                     Random& random) {
  places.resize(a.size());
  for (std::size_t place = 0; place < a.size(); ++place) places[static_cast<std::size_t>(a[place])] = place;
  const std::size_t first = random.below(a.size());
  std::size_t place = first;
  do {
    const std::size_t next = places[static_cast<std::size_t>(b[place])];
    std::swap(a[place], b[place]);
    place = next;
  } while (place != first);
}

void swap_random_genes(std::vector<Gene>& genes, std::size_t swaps, Random& random) {
  for (std::size_t i = 0; i < swaps; ++i) {
    std::swap(genes[random.below(genes.size())], genes[random.below(genes.size())]);
  }
}

void rebalance(const DenseCosts& costs, std::vector<Gene>& genes, std::vector<double>& loads,
               Random& random) {
  const auto most = static_cast<std::size_t>(std::max_element(loads.begin(), loads.end()) - loads.begin());
  const auto least = static_cast<std::size_t>(std::min_element(loads.begin(), loads.end()) - loads.begin());
  if (most == least) return;
  // The places of the two queues, [begin, end).
  std::size_t from = 0, from_end = genes.size(), to = 0, to_end = genes.size();
  std::size_t host = 0;
  const auto tasks = static_cast<Gene>(costs.tasks());
  for (std::size_t place = 0; place < genes.size(); ++place) {
    if (genes[place] < tasks) continue;
    if (host == most) from_end = place;
    if (host == least) to_end = place;
    ++host;
    if (host == most) from = place + 1;
    if (host == least) to = place + 1;
  }
  if (from == from_end) return;
  const std::size_t chosen = from + random.below(from_end - from);
  const auto task = static_cast<std::size_t>(genes[chosen]);
  const double old = loads[most];
  const std::size_t tries = to == to_end ? 0 : 5;
  for (std::size_t i = 0; i < tries; ++i) {
    const std::size_t place = to + random.below(to_end - to);
    const auto other = static_cast<std::size_t>(genes[place]);
    const double most_after = old - costs(task, most) + costs(other, most);
    const double least_after = loads[least] - costs(other, least) + costs(task, least);
    if (std::max(most_after, least_after) >= old) continue;
    std::swap(genes[chosen], genes[place]);
    loads[most] = most_after;
    loads[least] = least_after;
    return;
  }
  if (loads[least] + costs(task, least) >= old) return;
  loads[most] -= costs(task, most);
  loads[least] += costs(task, least);
  // To the end of the other queue; what stands between moves by one.
  const auto at = [&](std::size_t place) { return genes.begin() + static_cast<std::ptrdiff_t>(place); };
  if (chosen < to_end) {
    std::rotate(at(chosen), at(chosen + 1), at(to_end));
  } else {
    std::rotate(at(to_end), at(chosen), at(chosen + 1));
  }
}

}  // namespace gleaner::policy
