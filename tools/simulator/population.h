// The synthetic population of tools/simulator/MODEL.md: four classes of PCs, their
// speeds and cores, when they are on, paused, loaded, slowed down or gone for good; everything from a seed.
//
// Words of that page are read so: "lognormal x" has median x; gaps and lengths without a
// distribution are exponential; hosts are in the steady state when the job starts; overnight PCs of an office
// are the same ones every day; a lab's PCs are switched on in its opening hours (8 to 20 on weekdays) and
// stay on till their session ends; home PCs are switched on mostly in the evening of their own time zone.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "shared/base/random.h"
#include "tools/simulator/trace.h"

namespace gleaner::simulator {

struct GridHost;

enum class HostClass : int { always = 1, office = 2, home = 3, lab = 4 };
inline constexpr HostClass host_classes[] = {HostClass::always, HostClass::office, HostClass::home,
                                             HostClass::lab};
[[nodiscard]] const char* name_of(HostClass kind);

// What happens while a host is on: gaps and lengths in seconds. The classes have their own (habits_of).
struct Habits {
  double pause_gap = 0, pause_length = 0, pause_deviation = 0;  // gap infinite: never
  double load_gap = 3000, load_length = 600;
  double slow_gap = 216'000, slow_length = 7200;
  double vanish_mean = 33 * 86400.0;
  std::vector<double> present;  // by hour of the week: chance that a pause that is due comes; empty: 1
};
[[nodiscard]] Habits habits_of(HostClass kind);

// Who owns a host and what that does to it.
struct Owner {
  HostClass kind = HostClass::always;
  std::shared_ptr<const Habits> habits = {};  // none: its class's
  double harsh = 1;                           // times as many slowdowns and vanishings
  double start_hour = 10;  // hour of the week, from Monday 0:00, at which virtual time 0 is
  double zone = 0;         // hours ahead of that
  std::uint64_t seed = 0;
};

// Events of a host of that owner, made on the fly; endless but for vanishing.
class OwnerTrace {
 public:
  explicit OwnerTrace(const Owner& owner);
  [[nodiscard]] bool next(HostEvent& event);

 private:
  // Something that comes and goes while the host is on.
  struct Spell {
    double gap = 0, length = 0, deviation = 0;  // deviation 0: exponential, else lognormal around `length`
    double next = 0;
    bool active = false;
  };
  void begin_session();
  void next_session();
  void office_session(double after);
  [[nodiscard]] double local_hour(double at) const;  // of the week
  [[nodiscard]] bool inside(HostEvent& event);       // the next event before the session ends
  [[nodiscard]] bool owner_comes(double at);
  void start(Spell& spell, double at);
  void toggle(Spell& spell);

  Owner owner_;
  Random random_;
  HostState told_;  // before time 0: folded into the first events
  bool overnight_ = false;
  bool on_ = false;
  bool started_ = false;
  int initial_ = 0;  // events that say how things are at time 0 and have been told
  double session_begin_ = 0, session_end_ = 0, vanish_at_ = 0;
  Spell pause_, load_, slow_;
};

struct Mix {
  double always = 0, office = 0, home = 0, lab = 0;
};

struct PopulationSetup {
  int hosts = 0;
  int slots = 0;  // of each; 0: as many as its cores
  Mix mix;
  double harsh = 1;
  double start_hour = 10;
  std::function<void(Habits&)> change = {};  // of the classes' habits
  std::uint64_t seed = 1;
};

// REQUIRES: hosts >= 1; mix not negative, of some sum above 0.
[[nodiscard]] std::vector<GridHost> make_population(const PopulationSetup& setup);

}  // namespace gleaner::simulator
