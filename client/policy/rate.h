// The rate of the last minute in hint units per second, as heartbeats report it,
// and how long a unit's rest will take. A finished item counts evenly over the time it ran, and the item in
// progress counts as far as it can be told to have come, so that long items do not look like a standstill.
// Pauses count as time in which nothing was done; power-off is not seen because the clock is steady. Pure.
// Memory: about 130 pieces. Not thread-safe.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "shared/base/clock.h"

namespace gleaner::client_policy {

class LastMinuteRate {
 public:
  // A unit (the next one of the same problem) begins; `item_cost` in hint units. Starts running.
  // `first`: whether its first item begins anew, or goes on from where somebody saved it.
  enum class First { anew, begun };
  void start_unit(SteadyTime now, double item_cost, First first = First::anew);
  void pause(SteadyTime now);
  void resume(SteadyTime now);
  void finish_item(SteadyTime now);
  void progress(SteadyTime now, double fraction);  // of the item in progress, as the kernel says
  void end_unit(SteadyTime now);                   // finished or taken away

  [[nodiscard]] double rate(SteadyTime now) const;       // 0: unknown or standing still
  [[nodiscard]] Duration on_item(SteadyTime now) const;  // running time of the item in progress
  // Of the item in progress done, as its kernel said lately; 0: unknown.
  [[nodiscard]] double fraction_done(SteadyTime now) const;
  [[nodiscard]] Duration on_unit(SteadyTime now) const;  // since start_unit, pauses included
  // Time that `items` more items need at the mean of the recent ones, less what the item in progress has had.
  [[nodiscard]] std::optional<Duration> remaining(SteadyTime now, std::int64_t items) const;

  static constexpr Duration window = std::chrono::minutes{1};

 private:
  struct Piece {
    SteadyTime from;
    SteadyTime to;
    double cost;
  };
  void forget_fraction();
  void close_stretch(SteadyTime now);
  void add_piece(SteadyTime from, SteadyTime to, double cost);
  [[nodiscard]] Duration running_on_item(SteadyTime now) const;
  [[nodiscard]] double whole_seconds(double spent) const;
  [[nodiscard]] double rest_seconds(double spent) const;

  bool in_unit_ = false;
  bool running_ = false;
  double item_cost_ = 1;
  double fraction_ = 0;
  double fraction_seconds_ = 0;  // running time of the item when the kernel said so
  // Where the item in progress began: what is known of its speed counts from there.
  bool begun_ = false;
  double first_fraction_ = 0, first_seconds_ = 0;
  std::optional<double> mean_seconds_;  // running seconds of an item, recent mean
  SteadyTime first_{};                  // when anything was measured first
  bool measured_ = false;
  SteadyTime unit_started_{};
  SteadyTime stretch_started_{};  // of the running stretch
  std::vector<Piece> stretches_;  // earlier stretches of the item in progress; cost unused
  std::deque<Piece> pieces_;
};

}  // namespace gleaner::client_policy
