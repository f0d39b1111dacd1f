// What is remembered of a finished task, and how much of it. Value types, not thread-safe. Seconds.
// Source: Page 2009, section 2.3 (algorithm 2.1 keeps the last n observations of a problem on a processor).
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace gleaner::policy {

// The parameters of a task: numbers that may be compared by distance, and codes (a stage, an operation) that
// either agree or do not.
struct TaskParameters {
  std::vector<double> numbers;
  std::vector<std::string> codes;
  friend bool operator==(const TaskParameters&, const TaskParameters&) = default;
};

struct Observation {
  TaskParameters parameters;
  double computation = 0;    // t, seconds
  double communication = 0;  // c, seconds
  double rate = 0;           // of the host when the task was handed out (P), MFLOP/s
  // What was predicted when the task was handed out; 0: nothing. Errors may only be told from these, since an
  // estimate made afterwards knows the outcome.
  double predicted_computation = 0;
  double predicted_communication = 0;
  std::int64_t number = 0;  // counts up; newer is larger

  // |ETC - t| / max(t, least_seconds), or nothing predicted: negative.
  [[nodiscard]] double error() const;
};

// The last `capacity` observations, oldest first.
class ObservationRing {
 public:
  explicit ObservationRing(std::size_t capacity) : capacity_(capacity) {}
  void add(Observation observation) {
    if (ring_.size() == capacity_) ring_.pop_front();
    ring_.push_back(std::move(observation));
  }
  [[nodiscard]] const std::deque<Observation>& all() const { return ring_; }
  [[nodiscard]] bool empty() const { return ring_.empty(); }

 private:
  std::size_t capacity_;
  std::deque<Observation> ring_;
};

}  // namespace gleaner::policy
