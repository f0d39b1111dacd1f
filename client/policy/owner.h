// Whether the computer's owner can spare it: people, power, heat and hours, as signals for decide()
// (run_decision.h). Pure but for what it remembers of its own last answers. Rules, each the cautious side of
// what is not known:
//   people       (run = when_idle) input within `idle_after`, from any source, pauses at once; a screen that
//   somebody is
//                logged in at, and of which no source tells when it was used, pauses; nobody logged in is
//                idle.
//   battery      pauses unless allowed; temperature pauses at the maximum, until it is 5 degrees below.
//   hours        outside of the permitted hours it pauses.
// Hysteresis: battery and temperature must be well for `dwell` before computing goes on, people be away for
// `idle_after`; and no pause is shorter than `dwell`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "client/policy/run_decision.h"
#include "shared/base/clock.h"

namespace gleaner::client_policy {

enum class RunWhen { never, idle, always };

// Minutes of a week from Monday 00:00, [begin, end); may wrap around the end of the week.
struct Hours {
  int begin = 0;
  int end = 0;
};
inline constexpr int minutes_per_week = 7 * 24 * 60;
// "mon-fri 18:00-08:00", "sat,sun", "22:30-06:00": days, or times, or both; nothing if it is none of them. A
// span over midnight belongs to the day on which it begins.
[[nodiscard]] std::optional<std::vector<Hours>> parse_hours(const std::string& text);

struct OwnerWishes {
  RunWhen run = RunWhen::always;
  Duration idle_after = std::chrono::minutes{5};
  bool on_battery = false;
  double temperature_max = 85;  // degrees Celsius
  std::vector<Hours> hours;     // none: any
};

// What one source knows now.
struct Observation {
  enum class Kind { input, screen, battery, temperature };
  Kind kind = Kind::input;
  std::string source;  // "terminal pts/3", "seat0 (x11, alice)", "BAT0"
  Duration age{0};     // since it was read
  std::optional<Duration>
      idle;          // input: since the last one; screen: how long unused for certain, nothing: unknown
  double value = 0;  // battery: 1 = discharging; temperature: degrees
};

struct OwnerView {
  const OwnerWishes& wishes;
  const std::vector<Observation>& observations;
  SteadyTime now;
  int minute_of_week = 0;  // local time
};

struct OwnerVerdict {
  std::vector<Signal> signals;       // what stands against it
  std::vector<std::string> details;  // every observation in words, for `gleaner why`
  std::optional<Duration> recheck;   // when time alone may change it
};

class OwnerPolicy {
 public:
  [[nodiscard]] OwnerVerdict judge(const OwnerView& view);

  static constexpr Duration dwell = std::chrono::minutes{1};
  static constexpr Duration age_max = std::chrono::minutes{2};  // what is older is not known
  static constexpr double cooling = 5;

 private:
  void judge_people(const OwnerView& view, OwnerVerdict& verdict);
  void judge_machine(const OwnerView& view, OwnerVerdict& verdict);

  std::optional<SteadyTime> people_at_;  // when they began to be in the way
  bool hot_ = false;
  std::string trouble_;  // why the machine could not be spared last
  std::optional<SteadyTime> trouble_at_;
};

// "40 seconds", "5 minutes", "2 hours": at most two digits of truth.
[[nodiscard]] std::string rough_text(Duration duration);

}  // namespace gleaner::client_policy
