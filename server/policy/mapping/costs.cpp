#include "server/policy/mapping/costs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "shared/base/check.h"

namespace gleaner::policy {
namespace {

double positive_or(double value, double fallback) {
  return std::isfinite(value) && value > 0 ? value : fallback;
}

}  // namespace

MappingCosts::MappingCosts(const MappingInput& input, Communication communication, Case of)
    : matrix_(input.tasks(), input.hosts(), infinity) {
  CHECK_TRUE(input.tasks() == 0 || input.computation.columns() == input.hosts());
  for (std::size_t host = 0; host < input.hosts(); ++host) {
    CHECK_TRUE(!(input.start[host] < 0));
    if (std::isfinite(input.start[host])) hosts_.push_back(host);
  }
  const bool has_communication = input.communication.rows() > 0;
  const bool has_error = input.error.rows() > 0;
  for (std::size_t task = 0; task < input.tasks(); ++task) {
    bool fits = false;
    for (const std::size_t host : hosts_) {
      const double transfer = has_communication ? input.communication(task, host) : 0;
      const double error = has_error ? input.error(task, host) : 1;
      double cost = input.computation(task, host);
      if (!std::isfinite(cost) || !std::isfinite(transfer) || !std::isfinite(error)) continue;
      if (of == Case::worst) cost *= 1 + error;
      if (communication == Communication::counted) cost += transfer;
      matrix_(task, host) = cost;
      fits = true;
    }
    (fits ? tasks_ : unplaced_).push_back(task);
  }
}

std::vector<double> work_of(const MappingInput& input) {
  if (!input.work.empty()) return input.work;
  std::vector<double> work;
  for (std::size_t task = 0; task < input.tasks(); ++task) {
    double sum = 0;
    std::size_t count = 0;
    for (const double seconds : input.computation.row(task)) {
      if (!std::isfinite(seconds)) continue;
      sum += seconds;
      ++count;
    }
    work.push_back(count > 0 ? sum / static_cast<double>(count) : 0);
  }
  return work;
}

std::vector<double> rates_of(const MappingInput& input) {
  std::vector<double> rates = input.rates;
  if (rates.empty()) {
    for (std::size_t host = 0; host < input.hosts(); ++host) {
      double sum = 0;
      std::size_t count = 0;
      for (std::size_t task = 0; task < input.tasks(); ++task) {
        if (!std::isfinite(input.computation(task, host))) continue;
        sum += input.computation(task, host);
        ++count;
      }
      rates.push_back(static_cast<double>(count) / sum);
    }
  }
  for (double& rate : rates) rate = positive_or(rate, 1);
  return rates;
}

MappingDraft::MappingDraft(const MappingInput& input, const MappingCosts& costs)
    : input_(input), costs_(costs), ready_(input.start) {
  schedule_.queues.resize(input.hosts());
}

std::size_t MappingDraft::best_host(std::size_t task) const {
  std::size_t best = costs_.hosts().front();
  double least = infinity;
  for (const std::size_t host : costs_.hosts()) {
    if (!clearly_less(finish(task, host), least)) continue;
    least = finish(task, host);
    best = host;
  }
  return best;
}

void MappingDraft::place(std::size_t task, std::size_t host) {
  CHECK_TRUE(std::isfinite(costs_(task, host)));
  schedule_.queues[host].push_back(task);
  ready_[host] += costs_(task, host);
}

Schedule MappingDraft::done(std::string rule) && {
  return finished(input_, costs_, std::move(schedule_.queues), std::move(rule));
}

Schedule finished(const MappingInput& input, const MappingCosts& costs,
                  std::vector<std::vector<std::size_t>> queues, std::string rule) {
  Schedule schedule;
  schedule.queues = std::move(queues);
  schedule.unplaced = costs.unplaced();
  schedule.makespan = predicted_makespan(input, schedule.queues);
  schedule.placed = input.placed_before + costs.tasks().size();
  schedule.reason = fmt::format("{}: {} tasks on {} hosts, predicted makespan {:.6g} s", rule,
                                costs.tasks().size(), costs.hosts().size(), schedule.makespan);
  if (!schedule.unplaced.empty())
    schedule.reason += fmt::format("; {} fit on no host", schedule.unplaced.size());
  return schedule;
}

double lower_bound(const MappingInput& input, const MappingCosts& costs) {
  const std::vector<double> rates = rates_of(input);
  double alone = 0;
  double work = 0;
  for (const std::size_t task : costs.tasks()) {
    double earliest = infinity;
    double least_work = infinity;
    for (const std::size_t host : costs.hosts()) {
      if (!std::isfinite(costs(task, host))) continue;
      earliest = std::min(earliest, input.start[host] + costs(task, host));
      least_work = std::min(least_work, costs(task, host) * rates[host]);
    }
    alone = std::max(alone, earliest);
    work += least_work;
  }
  std::vector<std::size_t> by_start = costs.hosts();
  std::sort(by_start.begin(), by_start.end(),
            [&](std::size_t a, std::size_t b) { return input.start[a] < input.start[b]; });
  double level = 0;
  double rate = 0;
  double weighted = work;  // work + sum of start * rate of the hosts below the level
  for (const std::size_t host : by_start) {
    if (rate > 0 && level <= input.start[host]) break;
    rate += rates[host];
    weighted += input.start[host] * rates[host];
    level = weighted / rate;
  }
  for (const std::size_t host : costs.hosts()) alone = std::max(alone, input.start[host]);
  return std::max(alone, level);
}

}  // namespace gleaner::policy
