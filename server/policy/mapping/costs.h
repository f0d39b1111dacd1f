// What all mapping strategies share: the cost of a task on a host as a strategy sees it, which tasks can be
// placed at all, and a schedule under construction. Internal to the module. Pure; seconds.
#pragma once

#include <limits>
#include <span>
#include <string>
#include <vector>

#include "server/policy/mapping/mapping.h"

namespace gleaner::policy {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

enum class Communication : int { ignored = 0, counted = 1 };
enum class Case : int { best = 0, worst = 1 };  // ETC, or ETC * (1 + ET)

// a < b by more than rounding; +inf is larger than everything else and equal to itself.
[[nodiscard]] inline bool clearly_less(double a, double b) {
  if (!(b < infinity)) return a < b;
  return a + 1e-12 * std::max(a < 0 ? -a : a, b < 0 ? -b : b) < b;
}

class MappingCosts {
 public:
  MappingCosts(const MappingInput& input, Communication communication, Case of = Case::best);

  // Seconds of the task on the host; +inf where it may not go.
  [[nodiscard]] double operator()(std::size_t task, std::size_t host) const { return matrix_(task, host); }
  [[nodiscard]] const Matrix& matrix() const { return matrix_; }
  [[nodiscard]] const std::vector<std::size_t>& tasks() const { return tasks_; }        // that fit somewhere
  [[nodiscard]] const std::vector<std::size_t>& unplaced() const { return unplaced_; }  // that fit nowhere
  [[nodiscard]] const std::vector<std::size_t>& hosts() const { return hosts_; }        // that take tasks

 private:
  Matrix matrix_;
  std::vector<std::size_t> tasks_;
  std::vector<std::size_t> unplaced_;
  std::vector<std::size_t> hosts_;
};

// T(i): as given, or the mean of the finite computation times; P(j): as given, or one over that mean of the
// host.
[[nodiscard]] std::vector<double> work_of(const MappingInput& input);
[[nodiscard]] std::vector<double> rates_of(const MappingInput& input);

// Queues and the time at which each host is through with its own, by the costs of one strategy.
class MappingDraft {
 public:
  MappingDraft(const MappingInput& input, const MappingCosts& costs);

  [[nodiscard]] double ready(std::size_t host) const { return ready_[host]; }
  [[nodiscard]] double finish(std::size_t task, std::size_t host) const {
    return ready_[host] + costs_(task, host);
  }
  // The host with the earliest finish of this task. REQUIRES: the task fits somewhere.
  [[nodiscard]] std::size_t best_host(std::size_t task) const;
  void place(std::size_t task, std::size_t host);
  // The schedule, judged by computation and communication whatever the strategy looked at.
  [[nodiscard]] Schedule done(std::string rule) &&;

 private:
  const MappingInput& input_;
  const MappingCosts& costs_;
  std::vector<double> ready_;
  Schedule schedule_;
};

// A schedule from queues that somebody else made.
[[nodiscard]] Schedule finished(const MappingInput& input, const MappingCosts& costs,
                                std::vector<std::vector<std::size_t>> queues, std::string rule);

// No schedule of these costs is shorter: the larger of every task alone on its best host, and of all work
// poured onto all hosts like water, T with sum_j max(0, T - ST(j)) * P(j) = sum_i min_j cost(i,j) * P(j).
[[nodiscard]] double lower_bound(const MappingInput& input, const MappingCosts& costs);

}  // namespace gleaner::policy
