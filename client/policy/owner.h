// Whether the computer's owner can spare it: people, power, heat, other programs and hours, as signals for
// decide() (run_decision.h). Pure but for what it remembers of its own last answers. Rules, each the cautious
// side of what is not known:
//   people       (run = when_idle) input within `idle_after`, from any source, pauses at once; a screen that
//                somebody is logged in at, and of which no source tells when it was used, pauses; a window
//                that fills the screen, or a program that keeps the session awake, pauses unless allowed;
//                nobody logged in is idle.
//   load         (run = when_idle) other programs that use `load_max` of all cores for longer than
//                `load_grace` pause, until they use 0.6 of that.
//   memory       programs that wait for memory a tenth of the time (pressure stall information, "full",
//                ten seconds) pause, until that is nearly over; in every mode. Where the system does not tell
//                that, less than a twentieth of the memory pauses, until a tenth is available.
//   programs     those that the owner names pause, in every mode.
//   sleep        a computer that is about to be suspended pauses, in every mode, until it is awake again.
//   battery      pauses unless allowed (power.h says what that is), and then below the least charge, and
//                while the computer is to save energy.
//   heat, noise  temperature and fan speed throttle, then pause (stepped_limit.h).
//   levels       the situations that hold now limit cores, share, temperature and fan speed (levels.h). With
//                a level for it, a computer that is used, or runs on its battery, computes at that level
//                instead of pausing.
//   hours        outside of the permitted hours it pauses; outside of the network's hours, or on a network
//                that costs by use unless allowed, nothing is fetched or delivered.
// Hysteresis: what stood against it must be well for `dwell` before computing goes on, people be away for
// `idle_after`; and no pause is shorter than `dwell`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "client/policy/levels.h"
#include "client/policy/local_time.h"
#include "client/policy/run_decision.h"
#include "client/policy/stepped_limit.h"
#include "shared/base/clock.h"

namespace gleaner::client_policy {

enum class RunWhen { never, idle, always };

// Minutes of a week from Monday 00:00, [begin, end); may wrap around the end of the week.
struct Hours {
  int begin = 0;
  int end = 0;
};
// "mon-fri 18:00-08:00", "sat,sun", "22:30-06:00": days, or times, or both; nothing if it is none of them. A
// span over midnight belongs to the day on which it begins.
[[nodiscard]] std::optional<std::vector<Hours>> parse_hours(const std::string& text);

struct OwnerRules {
  RunWhen run = RunWhen::always;
  Duration idle_after = std::chrono::minutes{5};
  bool on_battery = false;
  double battery_percent_min = 30;     // of its charge, where it is allowed
  double temperature_max = 85;         // degrees Celsius
  std::optional<double> fan_rpm_max;   // nothing: any
  std::vector<Hours> hours;            // none: any
  std::vector<Hours> expensive_hours;  // never then
  Duration dwell = std::chrono::minutes{1};
  double load_max = 0.5;   // of all cores, by other programs; 1: any
  Duration load_grace{0};  // for so long they may use more
  bool when_watching = false;
  bool on_metered = false;
  std::vector<Hours> network_hours;  // none: any
  Levels levels;
  std::vector<Hours> night_hours;  // of the level for the night; none: never
};
// Does it matter whether somebody is there?
[[nodiscard]] bool minds_people(const OwnerRules& rules);
// Does the speed of fans matter in any situation?
[[nodiscard]] bool minds_fans(const OwnerRules& rules);

// What one source knows now.
struct Observation {
  enum class Kind {
    input,
    screen,
    battery,
    saver,
    temperature,
    fan,
    watching,
    load,
    memory,
    available,
    program,
    metered,
    sleep,
    silent
  };
  Kind kind = Kind::input;
  std::string source;  // "terminal pts/3", "seat0 (x11, alice)", "BAT0"
  Duration age{0};     // since it was read
  std::optional<Duration>
      idle;  // input: since the last one; screen: how long unused for certain, nothing: unknown
  // battery: 1 = it is run on; temperature: degrees; fan: rpm; load: of all cores; memory: percent of time
  // stalled; available: part of the memory; metered: 1 = it costs by use. What is watched, an energy saver,
  // named programs and sleep are there or not. silent: a source that does not answer, in a sentence for the
  // owner.
  double value = 0;
  std::string note = {};               // in words, after the source: "asked", "the desktop's hint"
  std::optional<double> percent = {};  // battery: of its charge
};

struct OwnerView {
  const OwnerRules& rules;
  const std::vector<Observation>& observations;
  SteadyTime now;
  LocalTime local = {};
};

struct OwnerVerdict {
  std::vector<Signal> signals;       // what stands against it, or throttles it
  std::vector<std::string> details;  // every observation in words, for `gleaner why`
  std::optional<double> celsius;     // of the hottest sensor that is believed
  std::optional<Duration> recheck;   // when time alone may change it
  std::string no_network;            // why nothing may be fetched or delivered; empty: it may
  bool before_sleep = false;         // what is in hand is to be made safe
};

class OwnerPolicy {
 public:
  [[nodiscard]] OwnerVerdict judge(const OwnerView& view);

  static constexpr Duration age_max = std::chrono::minutes{2};  // what is older is not known
  static constexpr double load_leave = 0.6;                     // of load_max
  static constexpr double memory_enter = 10;
  static constexpr double memory_leave = 1;
  static constexpr double available_enter = 0.05;
  static constexpr double available_leave = 0.1;
  static constexpr Duration sleep_look = std::chrono::milliseconds{200};

 private:
  // The situations that hold, each in words, and the least of their levels.
  struct Now {
    Level level;
    std::string words;  // "somebody uses this computer (seat0), it is night"
    void add(const OwnerRules& rules, Situation situation, const std::string& told);
  };
  struct Trouble {
    const char* source = "machine";
    std::string sentence;  // empty: there is none
  };
  static void judge_hours(const OwnerView& view, OwnerVerdict& verdict);
  // Why this computer counts as used, where it may compute then; empty: it is idle, or pauses.
  [[nodiscard]] std::string judge_people(const OwnerView& view, OwnerVerdict& verdict);
  [[nodiscard]] static Now level_now(const OwnerView& view, const std::string& used, OwnerVerdict& verdict);
  static void judge_level(const Now& now, OwnerVerdict& verdict);
  void judge_machine(const OwnerView& view, const Level& level, OwnerVerdict& verdict);
  static void judge_network(const OwnerView& view, OwnerVerdict& verdict);
  [[nodiscard]] Trouble machine_trouble(const OwnerView& view, const Level& level, OwnerVerdict& verdict);
  // Why a limit stops computing now; empty: it does not, though it may throttle.
  [[nodiscard]] static std::string limit_trouble(SteppedLimit& limit, Observation::Kind kind, double maximum,
                                                 const OwnerView& view, OwnerVerdict& verdict);
  [[nodiscard]] std::string memory_trouble(const OwnerView& view);
  [[nodiscard]] std::string load_trouble(const OwnerView& view, OwnerVerdict& verdict);

  std::optional<SteadyTime> people_at_;  // when they began to be in the way
  SteppedLimit heat_{SteppedLimit::Of::temperature};
  SteppedLimit noise_{SteppedLimit::Of::fans};
  bool loaded_ = false;
  std::optional<SteadyTime> busy_since_;  // others use as much as the maximum
  bool short_of_memory_ = false;
  Trouble trouble_;  // why the machine could not be spared last
  std::optional<SteadyTime> trouble_at_;
};

// Does one of them hold at this minute of the week?
[[nodiscard]] bool within(const std::vector<Hours>& hours, int minute);
// "8:00", so many minutes from now by this computer's clock; "Monday 8:00" if it is more than a day away.
[[nodiscard]] std::string time_text(const LocalTime& local, int ahead);

// "40 seconds", "5 minutes", "2 hours": at most two digits of truth.
[[nodiscard]] std::string rough_text(Duration duration);

}  // namespace gleaner::client_policy
