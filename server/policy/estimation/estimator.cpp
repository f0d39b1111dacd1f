#include "server/policy/estimation/estimator.h"

#include <algorithm>
#include <cmath>

#include "server/policy/estimation/clamps.h"

namespace gleaner::policy {
namespace {

constexpr std::size_t enough_own = 5;
constexpr double rate_most = 1e7;  // MFLOP/s

}  // namespace

double Observation::error() const {
  if (!(predicted_computation > 0)) return -1;
  return std::abs(predicted_computation - computation) / std::max(computation, least_seconds);
}

double communication_seconds(double handed_out_to_return, double computation) {
  return std::max(0.0, handed_out_to_return - computation);
}

bool is_plausible_rate(double rate) {
  return std::isfinite(rate) && rate > 0 && rate <= rate_most;
}

void TaskEstimator::add(HostId host, Observation observation) {
  if (!std::isfinite(observation.computation) || observation.computation <= 0) return;
  if (!(observation.communication >= 0) || !std::isfinite(observation.communication)) {
    observation.communication = 0;
  }
  observation.number = ++count_;
  if (is_plausible_rate(observation.rate)) work_.add(observation.computation * observation.rate);
  if (observation.error() >= 0) error_.add(observation.error());
  auto found = hosts_.find(host);
  if (found == hosts_.end()) {
    if (hosts_.size() == settings_.hosts_most) {
      hosts_.erase(std::min_element(hosts_.begin(), hosts_.end(), [](const auto& a, const auto& b) {
        return a.second.last < b.second.last;
      }));
    }
    found = hosts_.emplace(host, History{ObservationRing(settings_.ring), 0}).first;
  }
  found->second.last = count_;
  if (settings_.pooled && is_plausible_rate(observation.rate)) pool_.add(observation);
  found->second.ring.add(std::move(observation));
}

std::optional<NeighbourEstimate> TaskEstimator::own(HostId host, const TaskParameters& task,
                                                    Value value) const {
  const auto found = hosts_.find(host);
  if (found == hosts_.end()) return std::nullopt;
  std::vector<Sample> samples;
  for (const Observation& one : found->second.ring.all()) {
    if (value == Value::error && one.error() < 0) continue;
    const double seen = value == Value::computation     ? one.computation
                        : value == Value::communication ? one.communication
                                                        : one.error();
    samples.push_back({&one.parameters, seen, one.number});
  }
  return nearest_neighbours(samples, task, settings_.neighbours);
}

std::optional<NeighbourEstimate> TaskEstimator::pooled(double rate, const TaskParameters& task) const {
  std::vector<Sample> samples;
  for (const Observation& one : pool_.all()) {
    samples.push_back({&one.parameters, one.computation * one.rate / rate, one.number});
  }
  return nearest_neighbours(samples, task, settings_.neighbours);
}

double TaskEstimator::middle_rate() const {
  std::vector<double> rates;
  for (const auto& [host, history] : hosts_) {
    const double rate = history.ring.all().back().rate;
    if (is_plausible_rate(rate)) rates.push_back(rate);
  }
  if (rates.empty()) return 1;
  const auto middle = rates.begin() + static_cast<std::ptrdiff_t>(rates.size() / 2);
  std::nth_element(rates.begin(), middle, rates.end());
  return *middle;
}

void TaskEstimator::estimate_computation(const HostSpeed& host, double rate, const TaskParameters& task,
                                         TaskEstimate& estimate) const {
  const auto take = [&](double seconds, Quality quality, const char* basis) {
    estimate.computation = clamped_seconds(seconds);
    estimate.quality = quality;
    estimate.basis = basis;
  };
  const auto history = hosts_.find(host.host);
  const std::size_t own_count = history == hosts_.end() ? 0 : history->second.ring.all().size();
  if (settings_.pooled && own_count < enough_own) {
    if (const auto found = pooled(rate, task)) {
      take(found->value, std::min(found->quality, Quality::medium), "similar tasks on all hosts");
      return;
    }
  }
  if (const auto found = own(host.host, task, Value::computation)) {
    take(found->value, found->quality, "similar tasks on this host");
  } else if (work_.value()) {
    take(*work_.value() / rate, Quality::medium, "the mean work of a task");
  } else if (settings_.declared_work > 0) {
    take(settings_.declared_work / rate, Quality::low, "the declared work");
  } else {
    estimate.basis = "nothing is known";
  }
}

TaskEstimate TaskEstimator::estimate(const HostSpeed& host, const TaskParameters& task, double bytes) const {
  TaskEstimate estimate;
  const double rate = is_plausible_rate(host.rate) ? host.rate : middle_rate();
  estimate_computation(host, rate, task, estimate);
  if (const auto found = own(host.host, task, Value::communication)) {
    estimate.communication = clamped_seconds(found->value);
  } else {
    const double transfer = host.bandwidth > 0 ? bytes / host.bandwidth : 0;
    estimate.communication = clamped_seconds(transfer + host.latency);
  }
  if (const auto found = own(host.host, task, Value::error)) {
    estimate.error = clamped_error(found->value);
  } else {
    estimate.error = clamped_error(error_.value().value_or(unknown_error));
  }
  return estimate;
}

}  // namespace gleaner::policy
