// A limit on what sensors read, of which some are broken: the processor's temperature, or the speed of fans.
// It says what share of a core the readings leave. Rules:
//   believed     -30 to 125 degrees, up to 40000 rpm. A sensor does not count while its reading stays at the
//                maximum or above without any change: a temperature after 10 minutes if all others are 20
//                degrees cooler, and after 30 minutes if there is no other; a fan after 30 minutes, because
//                paused kernels do not drive it. A fan that has never turned does not count: the connector
//                may be empty. A sensor counts again when its reading changes.
//   steps        near the maximum (3 degrees, or a tenth of the speed) kernels get a quarter less, every half
//                minute, down to a quarter; well below it (8 degrees, or a quarter) they get a quarter more,
//                every minute.
//   stop         at the maximum, until it is 5 degrees cooler, or a fifth slower.
// Pure but for what it remembers. Not thread-safe.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "shared/base/clock.h"

namespace gleaner::client_policy {

class SteppedLimit {
 public:
  enum class Of : int { temperature, fans };
  explicit SteppedLimit(Of what) : of_(what) {}

  struct Reading {
    std::string sensor;
    double value = 0;  // degrees Celsius, or revolutions a minute
  };
  struct Verdict {
    std::optional<Reading> highest;  // of those that are believed; nothing: there is none
    double share = 1;                // of each core
    bool stop = false;
    std::string sentence;              // why it throttles or stops; empty: it does neither
    std::vector<std::string> details;  // "acpitz says 127.8 degrees, which no processor has: ignored"
  };
  [[nodiscard]] Verdict judge(const std::vector<Reading>& readings, double maximum, SteadyTime now);
  [[nodiscard]] const char* name() const;  // "heat", "noise"

  static constexpr int steps = 3;
  static constexpr Duration step_down = std::chrono::seconds{30}, step_up = std::chrono::minutes{1};

 private:
  struct Kind;
  struct Seen {
    double value = 0;
    SteadyTime since{};  // it says so
    bool moved = false;  // it said something else before
  };
  static const Kind& kind(Of what);
  void remember(const std::vector<Reading>& readings, SteadyTime now);
  // Why a reading does not count; empty: it does.
  [[nodiscard]] std::string doubt(const Reading& one, const std::vector<Reading>& all, double maximum,
                                  SteadyTime now) const;
  [[nodiscard]] bool frozen(const Reading& one, const std::vector<Reading>& all, double maximum,
                            SteadyTime now) const;
  void step(double highest, double maximum, SteadyTime now);
  void tell(Verdict& verdict, double maximum) const;

  Of of_;
  std::map<std::string, Seen> seen_;
  bool stopped_ = false;
  int step_ = 0;
  std::optional<SteadyTime> stepped_at_;
};

}  // namespace gleaner::client_policy
