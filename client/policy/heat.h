// How hot this computer is, by sensors of which some are broken, and what share of a core that leaves. Rules:
//   believed     no processor has less than -30 or more than 125 degrees. A sensor that stays at the maximum
//                or above without the least change is set aside after 10 minutes if all others are 20 degrees
//                cooler, and after 30 minutes if there is no other; a change makes it count again.
//   steps        3 degrees below the maximum kernels get a quarter less, every half minute, down to a
//                quarter; 8 degrees below it they get a quarter more, every minute.
//   stop         at the maximum, until it is 5 degrees cooler.
// Pure but for what it remembers. Not thread-safe.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "shared/base/clock.h"

namespace gleaner::client_policy {

class Heat {
 public:
  struct Reading {
    std::string sensor;
    double degrees = 0;  // Celsius
  };
  struct Verdict {
    std::optional<Reading> hottest;  // of those that are believed; nothing: there is none
    double share = 1;                // of each core
    bool stop = false;
    std::vector<std::string> set_aside;  // "acpitz says 127.8 degrees, which no processor has: not believed"
  };
  [[nodiscard]] Verdict judge(const std::vector<Reading>& readings, double degrees_max, SteadyTime now);

  static constexpr double degrees_low = -30, degrees_high = 125;
  static constexpr Duration frozen_beside_others = std::chrono::minutes{10};
  static constexpr Duration frozen_alone = std::chrono::minutes{30};
  static constexpr double others_cooler = 20;
  static constexpr double warm = 3, well = 8, cooling = 5;  // degrees below the maximum
  static constexpr int steps = 3;
  static constexpr Duration step_down = std::chrono::seconds{30}, step_up = std::chrono::minutes{1};

 private:
  struct Seen {
    double degrees = 0;
    SteadyTime since{};  // it says so
  };
  [[nodiscard]] bool frozen(const Reading& one, const std::vector<Reading>& all, double degrees_max,
                            SteadyTime now) const;
  void step(double hottest, double degrees_max, SteadyTime now);

  std::map<std::string, Seen> seen_;
  bool stopped_ = false;
  int step_ = 0;
  std::optional<SteadyTime> stepped_at_;
};

}  // namespace gleaner::client_policy
