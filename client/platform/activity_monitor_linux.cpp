#include <time.h>

#include <algorithm>

#include "client/platform/activity_monitor.h"

namespace gleaner::platform {
namespace {

constexpr Duration terminals_interval = std::chrono::seconds{2};
constexpr Duration others_interval = std::chrono::seconds{10};
constexpr Duration left_remembered = std::chrono::hours{24};

enum class Haste { no, yes };

// A source that is read again when what it said is old; in haste, later.
class Remembered {
 public:
  explicit Remembered(Duration interval) : interval_(interval) {}
  template <typename Read>
  void add(std::vector<Observation>& all, SteadyTime now, Haste haste, Read read) {
    const bool old = !read_at_ || now - *read_at_ >= interval_ || now < *read_at_;
    if (old && (haste == Haste::no || !read_at_)) {
      seen_ = read();
      read_at_ = now;
    }
    for (Observation observation : seen_) {
      observation.age = std::chrono::duration_cast<Duration>(now - *read_at_);
      all.push_back(std::move(observation));
    }
  }
  void forget() { read_at_.reset(); }

 private:
  Duration interval_;
  std::optional<SteadyTime> read_at_;
  std::vector<Observation> seen_;
};

class LinuxActivityMonitor final : public host::ActivityMonitor {
 public:
  explicit LinuxActivityMonitor(ActivityRoots roots)
      : roots_(std::move(roots)), inputs_(roots_.dev), agents_(roots_.agents, roots_.admits) {
    if (!roots_.own_use) roots_.own_use = own_use;
  }

  std::vector<Observation> observe(SteadyTime now) override {
    std::vector<Observation> all;
    // Who came a moment ago does not wait for slower sources.
    const Haste haste = touched() ? Haste::yes : Haste::no;
    if (roots_.use_system_bus && bus_.serve(now)) screens_.forget();
    agents_.serve(now);
    const auto told = agents_.told(now);
    add_agents(all, told, now);
    const auto input = inputs_.observe(now);
    if (input) all.push_back(*input);
    terminals_.add(all, now, haste, [this] { return observe_terminals(roots_.dev); });
    add_screens(all, told, input, now, haste);
    logins_.add(all, now, haste, [this] { return observe_logins(roots_.utmp, roots_.dev); });
    power_.add(all, now, haste, [this] { return observe_power(roots_.sys); });
    others_.add(all, now, haste, [this] { return observe_others(); });
    if (roots_.use_system_bus) {
      bus_.settle();
      for (Observation& one : bus_.observe(now)) all.push_back(std::move(one));
      for (Observation& one : bus_.observe_sleep(now)) all.push_back(std::move(one));
    }
    return all;
  }

  std::vector<io::Waitable> waitables() const override {
    std::vector<io::Waitable> all = of_people();
    if (bus_.waitable().valid()) all.push_back(bus_.waitable());
    return all;
  }

  bool touched() const override { return io::wait_any(of_people(), Duration{0}).has_value(); }

  void watch(const Wanted& wanted) override {
    wanted_ = wanted;
    others_.forget();
  }

  void show(std::optional<client_policy::Notice> notice) override {
    if (!notice) return agents_.offer({});
    agents_.offer(agent::Notice{notice->number, std::move(notice->title), std::move(notice->text)});
  }

  std::optional<std::int64_t> take_shown() override { return agents_.take_shown(); }

  client_policy::LocalTime local_time() const override { return local_time_at(::time(nullptr)); }

 private:
  [[nodiscard]] std::vector<io::Waitable> of_people() const {
    std::vector<io::Waitable> all = agents_.waitables();
    for (const io::Waitable device : inputs_.waitables()) all.push_back(device);
    return all;
  }

  void add_agents(std::vector<Observation>& all, const std::vector<Agents::Told>& told,
                  SteadyTime now) const {
    for (const Agents::Told& one : told) {
      for (const auto& input : one.report.inputs) {
        const Duration since =
            input.active ? Duration{0} : input.idle + std::chrono::duration_cast<Duration>(now - one.at);
        all.push_back({Observation::Kind::input, input.source, Duration{0}, since, 0,
                       input.asked ? "by asking" : "told at once"});
      }
      for (const std::string& sentence : one.report.missing)
        all.push_back({Observation::Kind::silent, sentence, Duration{0}, {}, 0});
      if (one.report.locked.value_or(false)) continue;  // nobody watches a locked screen
      for (const auto& busy : one.report.busy)
        all.push_back({Observation::Kind::watching,
                       busy.kind == agent::SessionReport::Busy::Kind::full_screen
                           ? busy.what + " fills the screen"
                           : busy.what,
                       Duration{0},
                       {},
                       0});
    }
    const auto left = agents_.left();
    if (!left || now - *left > left_remembered) return;
    all.push_back({Observation::Kind::input, "a session that ended", Duration{0},
                   std::chrono::duration_cast<Duration>(now - *left), 0});
  }

  void add_screens(std::vector<Observation>& all, const std::vector<Agents::Told>& told,
                   const std::optional<Observation>& input, SteadyTime now, Haste haste) {
    screens_.add(all, now, haste, [this, now] {
      known_screens_ = roots_.screens ? roots_.screens() : logind_screens(bus_, now);
      std::vector<Observation> seen;
      for (const Screen& screen : known_screens_)
        seen.push_back({Observation::Kind::screen, screen.name, Duration{0}, screen.idle, 0});
      return seen;
    });
    std::size_t number = 0;
    for (Observation& observation : all) {
      if (observation.kind != Observation::Kind::screen) continue;
      const Screen& screen = known_screens_[number++];
      // Its session's own agent knows better than anybody else.
      for (const Agents::Told& one : told)
        if (const auto unused = one.unused(now); unused && covers(one, screen)) {
          observation.idle = *unused;
          observation.age = Duration{0};
          observation.note = "by its agent";
        }
      // Who sits at this computer's own screen uses its devices: if those are watched, nothing is unknown.
      if (input && !observation.idle && observation.source.starts_with("seat"))
        observation.idle = input->idle;
    }
    // A session that is no screen's, and whose sources stand still, is not known to be calm.
    for (const Agents::Told& one : told) {
      const bool known = one.unused(now) || one.report.missing.empty();
      if (known || std::any_of(known_screens_.begin(), known_screens_.end(),
                               [&one](const Screen& screen) { return covers(one, screen); }))
        continue;
      all.push_back({Observation::Kind::screen, one.report.missing.front(), Duration{0}, {}, 0});
    }
  }

  std::vector<Observation> observe_others() {
    std::vector<Observation> seen = observe_programs(roots_.proc, wanted_.programs);
    if (wanted_.fans)
      for (Observation& fan : observe_fans(roots_.sys)) seen.push_back(std::move(fan));
    if (const auto memory = observe_memory(roots_.proc)) seen.push_back(*memory);
    if (!roots_.tell_load) return seen;
    if (const auto load = load_.observe(roots_.proc, roots_.own_use())) seen.push_back(*load);
    return seen;
  }

  ActivityRoots roots_;
  InputDevices inputs_;
  Agents agents_;
  SystemBus bus_;
  LoadMeter load_;
  Wanted wanted_;
  std::vector<Screen> known_screens_;
  Remembered terminals_{terminals_interval};
  Remembered logins_{terminals_interval};
  Remembered screens_{others_interval};
  Remembered power_{others_interval};
  Remembered others_{others_interval};
};

}  // namespace

bool covers(const Agents::Told& told, const Screen& screen) {
  // A server that root runs may be anybody's: then the display's name decides.
  if (screen.user && *screen.user != told.user && *screen.user != 0) return false;
  if (!screen.session.empty() && !told.report.session.empty()) return screen.session == told.report.session;
  if (!screen.display.empty() && !told.report.display.empty()) return screen.display == told.report.display;
  return screen.user == told.user;
}

ActivityRoots roots_below(const io::Path& root) {
  ActivityRoots roots;
  roots.dev = root / "dev";
  roots.sys = root / "sys";
  roots.proc = root / "proc";
  roots.utmp = root / "run/utmp";
  roots.screens = [sockets = root / "tmp/.X11-unix"] { return x_servers(sockets); };
  roots.use_system_bus = false;
  return roots;
}

std::unique_ptr<host::ActivityMonitor> make_activity_monitor(ActivityRoots roots) {
  return std::make_unique<LinuxActivityMonitor>(std::move(roots));
}

}  // namespace gleaner::platform
