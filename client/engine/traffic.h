// What all projects together move over the network, by day and month, and whether the owner's limits leave
// more. Bodies of requests and replies count, of downloads also those that broke off; headers, encryption and
// uploads that failed do not. A large transfer stops when a limit is reached (TransferAllowance). Kept across
// restarts; a kill costs the count of a minute. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "client/engine/memberships.h"
#include "client/policy/traffic.h"

namespace gleaner::engine {

class Traffic {
 public:
  Traffic(Services& services, const Memberships& projects) : services_(services), projects_(projects) {}

  // Call once, first.
  void open(SteadyTime now);
  void set(const client_policy::TrafficLimits& limits) { limits_ = limits; }
  // Counts what was moved since the last call. Saves now and then.
  void count(SteadyTime now, Alarm& alarm);
  void save(SteadyTime now);
  // Why nothing more may be moved; empty: it may.
  [[nodiscard]] std::string trouble() const { return client_policy::traffic_trouble(count_, limits_); }
  // Bytes that may still be moved; INT64_MAX: any.
  [[nodiscard]] std::int64_t left() const { return client_policy::traffic_left(count_, limits_); }
  [[nodiscard]] std::string text() const { return client_policy::text_of(count_, limits_); }

 private:
  void remind(Alarm& alarm) const;

  Services& services_;
  const Memberships& projects_;
  client_policy::TrafficLimits limits_;
  client_policy::TrafficCount count_;
  std::int64_t counted_ = 0;  // bytes of this run
  std::int64_t saved_bytes_ = 0;
  SteadyTime saved_{};
  std::optional<SteadyTime> counted_at_;
};

}  // namespace gleaner::engine
