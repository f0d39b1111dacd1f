// ActivityMonitor (client/host/activity_monitor.h) of a Linux system, below injectable roots. Sources, each
// a file: agents_linux.cpp (desktop sessions, by their agents, at once), terminals_linux.cpp
// (pseudo-terminals, consoles and SSH sessions by the time of their last input), logins_linux.cpp (who is
// logged in there, by the system's list), input_linux.cpp (keyboards and mice, event by event, where
// permitted; what they say is thrown away unread), screens_linux.cpp (who is logged in at a screen, and
// whether it is idle or locked, by logind), power_linux.cpp (battery, temperature, fans), load_linux.cpp
// (what other programs take), local_time_linux.cpp (the zone), system_bus_linux.cpp (NetworkManager, what
// keeps the computer awake, idle sessions, that it is about to sleep, a UPS and power profiles).
#pragma once

#include <ctime>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "client/host/activity_monitor.h"
#include "client/platform/agents.h"
#include "shared/io/descriptor.h"
#include "shared/io/files.h"
#include "shared/io/waiting.h"

struct sd_bus;

namespace gleaner::platform {

using client_policy::Observation;

// Who is logged in at a screen. `idle`: how long it has been unused or locked, for certain.
struct Screen {
  std::string name;
  std::optional<Duration> idle;
  std::optional<unsigned> user = {};  // whose it is, if that is known
  std::string session = {};           // logind's name
  std::string display = {};           // of an X server
};

struct ActivityRoots {
  io::Path dev = "/dev";
  io::Path sys = "/sys";
  std::function<std::vector<Screen>()> screens = {};  // empty: logind's
  io::Path proc = "/proc";
  bool tell_load = true;                   // false: kernels cannot be told from other programs
  std::function<Duration()> own_use = {};  // see LoadMeter; empty: own_use() of the real system
  bool use_system_bus = true;
  std::vector<AgentPlace> agents = {};
  Agents::Admits admits = {};  // empty: who is logged in
  io::Path utmp = "/run/utmp";
};

// All that is looked at lies below `root`, and no service of the real system is asked: for tests.
[[nodiscard]] ActivityRoots roots_below(const io::Path& root);

[[nodiscard]] std::unique_ptr<host::ActivityMonitor> make_activity_monitor(ActivityRoots roots = {});

// The sources, for this module.
[[nodiscard]] std::vector<Observation> observe_terminals(const io::Path& dev);
// Everybody whom utmp(5) lists at a terminal, by the terminal's times; at most logins_max, the latest first.
// A record whose terminal is gone is a leftover. Graphical sessions are Screens.
[[nodiscard]] std::vector<Observation> observe_logins(const io::Path& utmp, const io::Path& dev);
inline constexpr std::size_t logins_max = 16;
[[nodiscard]] std::vector<Observation> observe_power(const io::Path& sys);
// Every fan with a sensor, but pumps. Firmware of some laptops needs a tenth of a second for each.
[[nodiscard]] std::vector<Observation> observe_fans(const io::Path& sys);
[[nodiscard]] std::vector<Screen> x_servers(const io::Path& sockets);
// What programs wait for memory, or, where the system does not tell that, what of it is available.
[[nodiscard]] std::optional<Observation> observe_memory(const io::Path& proc);
// In the zone that the system has now, which may have been changed.
[[nodiscard]] client_policy::LocalTime local_time_at(std::time_t now);
// Those of `names` that run.
[[nodiscard]] std::vector<Observation> observe_programs(const io::Path& proc,
                                                        const std::vector<std::string>& names);
// Does a report from this agent say something of that screen?
[[nodiscard]] bool covers(const Agents::Told& told, const Screen& screen);

// By the bits of its keys (the kernel's Documentation/input/event-codes): a keyboard, mouse, touch pad or
// screen, a game pad or a joystick; not a lid switch, a power button or a sensor.
[[nodiscard]] bool is_used_by_hand(std::span<const unsigned char> key_bits);

class InputDevices {
 public:
  explicit InputDevices(const io::Path& dev);
  static constexpr Duration look_interval = std::chrono::seconds{10};  // for devices that came
  static constexpr std::size_t devices_max = 256;
  [[nodiscard]] std::vector<io::Waitable> waitables() const;
  // Drains them; nothing if none may be watched.
  [[nodiscard]] std::optional<Observation> observe(SteadyTime now);

 private:
  struct Device {
    std::string name;
    io::Descriptor descriptor;
  };
  void find();
  io::Path directory_;
  std::vector<Device> devices_;
  std::set<std::string> known_;  // names that need not be opened again
  std::optional<SteadyTime> looked_at_;
  std::optional<SteadyTime> last_;
};

// Of this process, and what its kernels spend in the system: those run nice, but reading and starting do not
// count so.
[[nodiscard]] Duration own_use();

class LoadMeter {
 public:
  // The mean since the last call; nothing at the first. `own`: processor time so far of this client and what
  // it has started, as far as the system does not count it as nice.
  [[nodiscard]] std::optional<Observation> observe(const io::Path& proc, Duration own);

 private:
  struct Ticks {
    std::int64_t others = 0, all = 0;
    Duration own{0};
  };
  std::optional<Ticks> before_;
};

// Asynchronous: it waits only for a bus's first answers, for first_answers_max. observe() names a service
// that does not answer; of its last answers, only those against computing stay valid.
class SystemBus {
 public:
  SystemBus();
  ~SystemBus();
  SystemBus(const SystemBus&) = delete;
  SystemBus& operator=(const SystemBus&) = delete;
  // Takes in what came, and asks what is due. True if idle_of() has news.
  bool serve(SteadyTime now);
  // Waits for the first answers, once.
  void settle();
  // What was answered last, and who does not answer.
  [[nodiscard]] std::vector<Observation> observe(SteadyTime now) const;
  // How long that session of logind has been idle or locked, for certain. It is asked about until it is not
  // wanted any more.
  [[nodiscard]] std::optional<Duration> idle_of(const std::string& session, SteadyTime now);
  // From logind's signal that the computer is about to sleep until the one that it is awake. A delay
  // inhibitor makes logind wait for sleep_settles after the first, so that kernels can stop.
  [[nodiscard]] std::vector<Observation> observe_sleep(SteadyTime now);
  [[nodiscard]] io::Waitable waitable() const;  // ready: serve() has something to take in

  static constexpr Duration first_answers_max = std::chrono::milliseconds{200};
  static constexpr Duration answer_patience = std::chrono::seconds{5};
  static constexpr Duration sleep_settles = std::chrono::milliseconds{300};
  static constexpr Duration sleep_forgotten = std::chrono::minutes{2};  // the word that it is awake was lost

 private:
  struct Answers;
  void open(SteadyTime now);
  void close();
  void process();
  void ask(SteadyTime now);
  void delay_sleep(SteadyTime now);
  sd_bus* bus_ = nullptr;
  SteadyTime open_at_{};  // no sooner
  SteadyTime ask_inhibitors_at_{}, ask_network_at_{}, ask_power_at_{}, ask_sessions_at_{};
  std::unique_ptr<Answers> answers_;
  std::optional<SteadyTime> sleep_told_;
};

// By logind, as far as it answers on that bus; where there is no logind, X servers.
[[nodiscard]] std::vector<Screen> logind_screens(SystemBus& bus, SteadyTime now);

}  // namespace gleaner::platform
