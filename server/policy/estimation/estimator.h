// Estimates for the tasks of one problem: ETC (seconds of computation), C (seconds of communication) and ET
// (predicted relative error of ETC), for a host. Source: Page 2009, section 2.3 and (4.2)-(4.4); the
// fall-back chain and the clamps are those of server/policy/estimation/ESTIMATION.md:
//
//   1. the nearest neighbours among this host's own observations (quality high);
//   2. with fewer than five of them: among those of all hosts, by the ratio of rates (optional; medium);
//   3. the smoothed work of a task over the rate (2.8) (medium);
//   4. the declared work over the rate (low); 5. nothing (unknown: round robin).
//
// Not thread-safe; no clock. Memory: `ring` observations a host, `hosts_most` hosts (the longest silent
// goes).
#pragma once

#include <map>
#include <optional>

#include "server/policy/estimation/neighbours.h"
#include "server/policy/estimation/smoothed.h"
#include "shared/base/ids.h"
#include "shared/base/limits.h"

namespace gleaner::policy {

struct EstimatorSettings {
  NeighbourSettings neighbours;
  std::size_t ring = static_cast<std::size_t>(limits::observations_per_host_max);
  std::size_t hosts_most = static_cast<std::size_t>(limits::observed_hosts_max);
  std::size_t pool = static_cast<std::size_t>(limits::pooled_observations_max);
  bool pooled = true;        // step 2
  double declared_work = 0;  // MFLOP of a task, if the manager says; 0: not
};

// What is known of a host when asked.
struct HostSpeed {
  HostId host;
  double rate = 0;       // P, MFLOP/s; not above 0 or not finite: the middle of those seen is taken
  double bandwidth = 0;  // B, bytes a second, smoothed; 0 unknown
  double latency = 0;    // seconds, smoothed
};

struct TaskEstimate {
  double computation = 0;    // ETC, clamped; 0 if the quality is unknown
  double communication = 0;  // C, clamped
  double error = 1;          // ET, clamped
  Quality quality = Quality::unknown;
  const char* basis = "";  // which step of the chain
};

class TaskEstimator {
 public:
  explicit TaskEstimator(EstimatorSettings settings = {}) : settings_(std::move(settings)) {}

  // A task has returned. Computation not above 0 or what is not finite is dropped; communication is at least
  // 0.
  void add(HostId host, Observation observation);
  [[nodiscard]] TaskEstimate estimate(const HostSpeed& host, const TaskParameters& task, double bytes) const;

 private:
  struct History {
    ObservationRing ring;
    std::int64_t last = 0;
  };
  enum class Value : int { computation, communication, error };
  [[nodiscard]] std::optional<NeighbourEstimate> own(HostId host, const TaskParameters& task,
                                                     Value value) const;
  [[nodiscard]] std::optional<NeighbourEstimate> pooled(double rate, const TaskParameters& task) const;
  void estimate_computation(const HostSpeed& host, double rate, const TaskParameters& task,
                            TaskEstimate& estimate) const;
  [[nodiscard]] double middle_rate() const;

  EstimatorSettings settings_;
  std::map<HostId, History> hosts_;
  ObservationRing pool_{settings_.pool};
  SmoothedAverage work_{smoothing_of_problems};
  SmoothedAverage error_{smoothing_of_problems};
  std::int64_t count_ = 0;
};

// (the client's own figure, bounded by what the server saw) c = (returned - handed out) - t, at least 0.
[[nodiscard]] double communication_seconds(double handed_out_to_return, double computation);

// A benchmark's answer: whether it may be used (finite, above 0, at most 1e7 MFLOP/s).
[[nodiscard]] bool is_plausible_rate(double rate);

}  // namespace gleaner::policy
