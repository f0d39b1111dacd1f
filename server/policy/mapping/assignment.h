// A host for each task, for the searches in which the order within a queue does not matter: loads, moves and
// exchanges in constant time. Internal to the module.
#pragma once

#include <vector>

#include "server/policy/mapping/chromosome.h"

namespace gleaner::policy {

class Assignment {
 public:
  // REQUIRES: at least one host.
  Assignment(const DenseCosts& costs, const std::vector<Gene>& genes);

  [[nodiscard]] std::size_t host(std::size_t task) const { return host_[task]; }
  [[nodiscard]] double load(std::size_t host) const { return loads_[host]; }
  void move(std::size_t task, std::size_t host);
  void exchange(std::size_t a, std::size_t b);
  [[nodiscard]] double makespan() const;
  // makespan + 0.001 * (makespan - mean load)
  [[nodiscard]] double energy() const;
  // Tasks of a host in the order of the batch.
  [[nodiscard]] std::vector<Gene> genes() const;

 private:
  const DenseCosts* costs_;
  std::vector<std::size_t> host_;
  std::vector<double> loads_;
};

}  // namespace gleaner::policy
