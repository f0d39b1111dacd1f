// Sums over the hosts of a stage, kept up to date so that no decision looks at all of them: rates of those
// that are on, what a benchmark is worth in this stage, the slowest, the known ones. Rates are hint units per
// second and slot. Every change of a record goes through out() before it, in() and relist() after it. Value
// type.
#pragma once

#include <cstdint>

#include "server/policy/hosts/greatest.h"
#include "server/policy/hosts/unit.h"
#include "server/policy/sizing/sizing.h"

namespace gleaner::policy {

class Fleet {
 public:
  // What the ordered lists hold of a host.
  struct Keys {
    double performance = 0, rate = 0;
    bool on = false;
    friend bool operator==(const Keys&, const Keys&) = default;
  };
  [[nodiscard]] static Keys keys_of(const HostRecord& record, int slots_on) {
    return {record.performance, record.rate, slots_on > 0};
  }

  std::size_t add(const HostRecord& record, int slots_on);  // a new host; its place in the lists
  // A change: out, in, relist.
  void in(const HostRecord& record, int slots_on);
  void out(const HostRecord& record, int slots_on);
  void relist(std::size_t place, const Keys& before, const Keys& now);
  // The first result of a host with so many slots on is about to be accepted.
  void proves(int slots_on) { slots_proven_ += slots_on; }

  // What a unit of benchmark is worth until hosts of this stage have shown it; 0: nothing is known.
  void believe(double worth) { believed_worth_ = worth; }

  // R1: the measured rate; before that the benchmark, at what benchmarks are worth in this stage and x .85
  // (which favours the known); without a benchmark the mean of the known. 0: nothing is known of anybody.
  [[nodiscard]] double rate(const HostRecord& record) const;
  // What the benchmark alone promises; 0: it promises nothing.
  [[nodiscard]] double promised_rate(const HostRecord& record) const { return record.performance * worth(); }
  // Of all slots that are on; estimates included.
  [[nodiscard]] double rate_on() const;
  [[nodiscard]] std::int64_t slots_on() const { return slots_on_; }
  // Of these, of hosts from which something was accepted.
  [[nodiscard]] std::int64_t slots_proven() const { return slots_proven_; }
  // Of one slot that is on, in the mean, and of the fastest; estimates included. 0: not known.
  [[nodiscard]] double mean_rate() const;
  [[nodiscard]] double fastest_rate() const;
  // For the sizing strategies, with rates in items of `mean_cost`.
  [[nodiscard]] FleetTotals totals(double mean_cost) const;

 private:
  void list(std::size_t place, const Keys& keys);
  void count(const HostRecord& record, int slots_on, int sign);
  [[nodiscard]] double worth() const;

  double believed_worth_ = 0;
  std::size_t places_ = 0;
  std::int64_t hosts_ = 0, slots_ = 0, slots_on_ = 0, slots_proven_ = 0;
  std::int64_t known_ = 0;  // hosts with a measured rate
  double known_rate_ = 0;   // their rates
  double both_rate_ = 0;    // of hosts with rate and benchmark
  double both_performance_ = 0;
  double on_rate_ = 0;               // measured, of slots that are on
  double on_performance_ = 0;        // benchmarks of unmeasured slots that are on
  std::int64_t on_benchmarked_ = 0;  // how many those are
  std::int64_t on_unknown_ = 0;      // slots that are on without either
  // Negative where the least is asked.
  Greatest least_rate_;                                 // of known hosts
  Greatest least_performance_;                          // of all that have one
  Greatest least_unmeasured_;                           // benchmarks of those without a rate
  Greatest greatest_rate_on_, greatest_unmeasured_on_;  // of hosts with a slot that is on
  double benchmark_sum_ = 0;                            // over slots
  std::int64_t benchmarked_ = 0;                        // slots
  FleetTotals times_;                                   // only what add_times() counts, in hint units
};

}  // namespace gleaner::policy
