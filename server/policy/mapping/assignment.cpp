#include "server/policy/mapping/assignment.h"

#include <algorithm>
#include <numeric>

namespace gleaner::policy {

Assignment::Assignment(const DenseCosts& costs, const std::vector<Gene>& genes)
    : costs_(&costs), host_(costs.tasks()) {
  std::size_t host = 0;
  for (const Gene gene : genes) {
    if (static_cast<std::size_t>(gene) < costs.tasks()) {
      host_[static_cast<std::size_t>(gene)] = host;
    } else {
      ++host;
    }
  }
  for (host = 0; host < costs.hosts(); ++host) loads_.push_back(costs.start(host));
  for (std::size_t task = 0; task < costs.tasks(); ++task) loads_[host_[task]] += costs(task, host_[task]);
}

void Assignment::move(std::size_t task, std::size_t host) {
  loads_[host_[task]] -= (*costs_)(task, host_[task]);
  host_[task] = host;
  loads_[host] += (*costs_)(task, host);
}

void Assignment::exchange(std::size_t a, std::size_t b) {
  const std::size_t host = host_[a];
  move(a, host_[b]);
  move(b, host);
}

double Assignment::makespan() const {
  return *std::max_element(loads_.begin(), loads_.end());
}

double Assignment::energy() const {
  const double longest = makespan();
  const double mean = std::accumulate(loads_.begin(), loads_.end(), 0.0) / static_cast<double>(loads_.size());
  return longest + 0.001 * (longest - mean);
}

std::vector<Gene> Assignment::genes() const {
  std::vector<std::vector<Gene>> queues(costs_->hosts());
  for (std::size_t task = 0; task < host_.size(); ++task) {
    queues[host_[task]].push_back(static_cast<Gene>(task));
  }
  std::vector<Gene> genes;
  auto delimiter = static_cast<Gene>(costs_->tasks());
  for (std::size_t host = 0; host < queues.size(); ++host) {
    if (host > 0) genes.push_back(delimiter++);
    genes.insert(genes.end(), queues[host].begin(), queues[host].end());
  }
  return genes;
}

}  // namespace gleaner::policy
