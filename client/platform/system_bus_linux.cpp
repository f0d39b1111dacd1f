// What services of the system's D-Bus know: NetworkManager, whether the network costs by use (its D-Bus
// reference: NMMetered), and logind, which programs keep the computer awake (org.freedesktop.login1(5):
// ListInhibitors; systemd-inhibit(1)), which sessions are idle or locked, and when the computer is about to
// sleep (PrepareForSleep; a delay inhibitor makes sleep wait until kernels are stopped). UPower knows of a
// UPS at a USB port, which the kernel does not show as a power supply (its D-Bus reference:
// org.freedesktop.UPower, .Device), and power-profiles-daemon whether energy is to be saved (ActiveProfile).
// Asked seldom, on a connection that is kept; a service that is not there tells nothing.
#include <fcntl.h>
#include <signal.h>
#include <systemd/sd-bus.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string_view>
#include <utility>

#include "client/agent/report/report.h"
#include "client/platform/activity_monitor.h"

namespace gleaner::platform {
namespace {

constexpr Duration reopen_interval = std::chrono::seconds{30};
constexpr Duration inhibitors_interval = std::chrono::seconds{30};
constexpr Duration network_interval = std::chrono::minutes{1};
constexpr Duration power_interval = std::chrono::seconds{30};
constexpr Duration sessions_interval = std::chrono::seconds{10};
constexpr std::uint32_t metered_yes = 1;
constexpr std::uint32_t metered_guess_yes = 3;
constexpr int inhibitors_max = 8;
constexpr std::size_t ups_max = 8;
constexpr std::uint32_t device_type_ups = 3;
constexpr std::uint32_t device_discharging = 2;
constexpr const char* login_service = "org.freedesktop.login1";
constexpr const char* login_object = "/org/freedesktop/login1";
constexpr const char* login_manager = "org.freedesktop.login1.Manager";
constexpr const char* network_service = "org.freedesktop.NetworkManager";
constexpr const char* power_service = "org.freedesktop.UPower";
constexpr const char* power_object = "/org/freedesktop/UPower";
constexpr const char* power_device = "org.freedesktop.UPower.Device";
constexpr const char* ups_objects = "/org/freedesktop/UPower/devices/ups_";  // how UPower names each UPS
// As the daemon is called, and was before version 0.20.
struct ProfilesName {
  const char *service, *object;
};
constexpr ProfilesName profiles_names[] = {
    {"org.freedesktop.UPower.PowerProfiles", "/org/freedesktop/UPower/PowerProfiles"},
    {"net.hadess.PowerProfiles", "/net/hadess/PowerProfiles"}};
constexpr const char* properties = "org.freedesktop.DBus.Properties";

bool has_word(const std::string& list, const std::string& word) {
  return (":" + list + ":").find(":" + word + ":") != std::string::npos;
}

bool is_dead(std::uint32_t process) {
  return ::kill(static_cast<pid_t>(process), 0) != 0 && errno == ESRCH;
}

std::uint64_t microseconds(Duration duration) {
  return static_cast<std::uint64_t>(
      std::max<std::int64_t>(0, std::chrono::duration_cast<std::chrono::microseconds>(duration).count()));
}

struct Service {
  std::optional<SteadyTime> asked;  // and has not answered since
  [[nodiscard]] bool silent(SteadyTime now) const {
    return asked && now - *asked >= SystemBus::answer_patience;
  }
  // True if it did what it was asked. An answer of any kind is a sign of life.
  bool take(sd_bus_message* reply) {
    const bool failed = sd_bus_message_is_method_error(reply, nullptr) != 0;
    if (!failed || sd_bus_message_get_errno(reply) != ETIMEDOUT) asked.reset();
    return !failed;
  }
};

}  // namespace

struct SystemBus::Answers {
  struct Session {
    Answers* all = nullptr;
    bool wanted = false, pending = false;
    bool told = false, locked = false, idle = false;
    SteadyTime idle_since{};
  };
  struct Ups {
    Answers* all = nullptr;
    std::string name;
    bool listed = false, pending = false;
    bool told = false, used = false;
    std::optional<double> percent;
  };
  Service login, network, power, profiles;
  std::map<std::string, Ups> upses;  // by object
  bool saves_energy = false;
  std::size_t profiles_name = 0;     // that is asked
  bool other_profiles_name = false;  // is to be asked at once: nobody has that one
  bool settled = false;              // the first answers were waited for
  bool news = false;                 // of a session
  std::vector<Observation> inhibitors;
  std::optional<bool> metered;
  std::map<std::string, Session> sessions;
  bool delay_asked = false;
  io::Descriptor delay;  // logind waits for its end before the computer sleeps
  bool sleeping = false;

  void forget() {
    const bool was_settled = settled;
    *this = Answers{};
    settled = was_settled;
  }
  [[nodiscard]] bool waits() const { return login.asked || network.asked || power.asked || profiles.asked; }
  static Answers& of(void* data) { return *static_cast<Answers*>(data); }
  static int take_sleep(sd_bus_message* message, void* data, sd_bus_error*);
  static int take_delay(sd_bus_message* reply, void* data, sd_bus_error*);
  static int take_inhibitors(sd_bus_message* reply, void* data, sd_bus_error*);
  static int take_metered(sd_bus_message* reply, void* data, sd_bus_error*);
  static int take_profile(sd_bus_message* reply, void* data, sd_bus_error*);
  static int take_devices(sd_bus_message* reply, void* data, sd_bus_error*);
  static int take_ups(sd_bus_message* reply, void* ups, sd_bus_error*);
  static int take_session(sd_bus_message* reply, void* session, sd_bus_error*);

  // A service that is not there is not started for us.
  template <typename... Arguments>
  static bool ask(sd_bus* bus, Service& service, SteadyTime now, const char* name, const char* path,
                  const char* interface, const char* member, sd_bus_message_handler_t answer, void* data,
                  const char* types, Arguments... arguments) {
    sd_bus_message* call = nullptr;
    const bool sent = sd_bus_message_new_method_call(bus, &call, name, path, interface, member) >= 0 &&
                      sd_bus_message_set_auto_start(call, 0) >= 0 &&
                      sd_bus_message_append(call, types, arguments...) >= 0 &&
                      sd_bus_call_async(bus, nullptr, call, answer, data, 0) >= 0;
    sd_bus_message_unref(call);
    if (sent && !service.asked) service.asked = now;
    return sent;
  }
};

int SystemBus::Answers::take_sleep(sd_bus_message* message, void* data, sd_bus_error*) {
  int sleeps = 0;
  if (sd_bus_message_read(message, "b", &sleeps) > 0) of(data).sleeping = sleeps != 0;
  return 0;
}

// Not permitted, or no logind: then there is only the moment that it takes to fall asleep.
int SystemBus::Answers::take_delay(sd_bus_message* reply, void* data, sd_bus_error*) {
  Answers& all = of(data);
  all.delay_asked = false;
  int given = -1;
  if (all.login.take(reply) && sd_bus_message_read(reply, "h", &given) > 0)
    all.delay = io::Descriptor(::fcntl(given, F_DUPFD_CLOEXEC, 3));
  return 0;
}

// One whose maker has died is held by somebody who inherited it unknowing, and counts no more.
int SystemBus::Answers::take_inhibitors(sd_bus_message* reply, void* data, sd_bus_error*) {
  Answers& all = of(data);
  const bool told = all.login.take(reply) && sd_bus_message_enter_container(reply, 'a', "(ssssuu)") > 0;
  if (!told && all.login.asked) return 0;
  all.inhibitors.clear();
  const char* what = nullptr;
  const char* who = nullptr;
  const char* why = nullptr;
  const char* mode = nullptr;
  std::uint32_t process = 0;
  while (told && all.inhibitors.size() < inhibitors_max &&
         sd_bus_message_read(reply, "(ssssuu)", &what, &who, &why, &mode, nullptr, &process) > 0)
    if (has_word(what, "idle") && std::strcmp(mode, "block") == 0 && !is_dead(process))
      all.inhibitors.push_back(
          {Observation::Kind::watching,
           agent::printable(std::string(who) + " keeps this computer awake (" + why + ")"),
           Duration{0},
           {},
           0});
  return 0;
}

int SystemBus::Answers::take_metered(sd_bus_message* reply, void* data, sd_bus_error*) {
  Answers& all = of(data);
  std::uint32_t metered = 0;
  const bool told = all.network.take(reply) && sd_bus_message_read(reply, "v", "u", &metered) > 0;
  if (told)
    all.metered = metered == metered_yes || metered == metered_guess_yes;
  else if (!all.network.asked)
    all.metered.reset();
  return 0;
}

int SystemBus::Answers::take_profile(sd_bus_message* reply, void* data, sd_bus_error*) {
  Answers& all = of(data);
  const char* profile = nullptr;
  if (all.profiles.take(reply) && sd_bus_message_read(reply, "v", "s", &profile) > 0) {
    all.saves_energy = std::strcmp(profile, "power-saver") == 0;
  } else if (!all.profiles.asked) {
    all.saves_energy = false;
    all.profiles_name = (all.profiles_name + 1) % std::size(profiles_names);
    all.other_profiles_name = all.profiles_name > 0;
  }
  return 0;
}

int SystemBus::Answers::take_devices(sd_bus_message* reply, void* data, sd_bus_error*) {
  Answers& all = of(data);
  const bool told = all.power.take(reply) && sd_bus_message_enter_container(reply, 'a', "o") > 0;
  if (!told && all.power.asked) return 0;
  for (auto& [object, ups] : all.upses) ups.listed = false;
  const char* object = nullptr;
  while (told && sd_bus_message_read(reply, "o", &object) > 0) {
    const bool room = all.upses.size() < ups_max || all.upses.contains(object);
    if (room && std::string_view(object).starts_with(ups_objects)) all.upses[object].listed = true;
  }
  std::erase_if(all.upses, [](const auto& one) { return !one.second.listed && !one.second.pending; });
  for (auto& [name, ups] : all.upses) {
    ups.all = &all;
    if (ups.listed && !ups.pending)
      ups.pending = ask(sd_bus_message_get_bus(reply), all.power, system_clock().steady(), power_service,
                        name.c_str(), properties, "GetAll", take_ups, &ups, "s", power_device);
  }
  return 0;
}

int SystemBus::Answers::take_ups(sd_bus_message* reply, void* data, sd_bus_error*) {
  Ups& ups = *static_cast<Ups*>(data);
  ups.pending = false;
  if (!ups.all->power.take(reply) || sd_bus_message_enter_container(reply, 'a', "{sv}") <= 0) return 0;
  std::uint32_t type = 0;
  std::uint32_t state = 0;
  double percent = -1;
  const char* model = "";
  while (sd_bus_message_enter_container(reply, 'e', "sv") > 0) {
    const char* name = nullptr;
    if (sd_bus_message_read(reply, "s", &name) <= 0) return 0;
    const auto is = [name](const char* other) { return std::strcmp(name, other) == 0; };
    const int read = is("Type")         ? sd_bus_message_read(reply, "v", "u", &type)
                     : is("State")      ? sd_bus_message_read(reply, "v", "u", &state)
                     : is("Percentage") ? sd_bus_message_read(reply, "v", "d", &percent)
                     : is("Model")      ? sd_bus_message_read(reply, "v", "s", &model)
                                        : sd_bus_message_skip(reply, "v");
    if (read < 0 || sd_bus_message_exit_container(reply) < 0) return 0;
  }
  ups.told = type == device_type_ups;
  ups.used = state == device_discharging;
  ups.name = *model == '\0' ? "UPS" : agent::printable(model);
  ups.percent = percent >= 0 && percent <= 100 ? std::optional(percent) : std::nullopt;
  return 0;
}

int SystemBus::Answers::take_session(sd_bus_message* reply, void* data, sd_bus_error*) {
  Session& session = *static_cast<Session*>(data);
  session.pending = session.told = false;
  session.all->news = true;
  if (!session.all->login.take(reply) || sd_bus_message_enter_container(reply, 'a', "{sv}") <= 0) return 0;
  int locked = 0;
  int idle = 0;
  std::uint64_t since = 0;
  while (sd_bus_message_enter_container(reply, 'e', "sv") > 0) {
    const char* name = nullptr;
    if (sd_bus_message_read(reply, "s", &name) <= 0) return 0;
    const auto is = [name](const char* other) { return std::strcmp(name, other) == 0; };
    const int read = is("LockedHint")               ? sd_bus_message_read(reply, "v", "b", &locked)
                     : is("IdleHint")               ? sd_bus_message_read(reply, "v", "b", &idle)
                     : is("IdleSinceHintMonotonic") ? sd_bus_message_read(reply, "v", "t", &since)
                                                    : sd_bus_message_skip(reply, "v");
    if (read < 0 || sd_bus_message_exit_container(reply) < 0) return 0;
  }
  session.told = true;
  session.locked = locked != 0;
  session.idle = idle != 0 && since != 0;
  session.idle_since = SteadyTime{Duration{static_cast<std::int64_t>(since)}};  // CLOCK_MONOTONIC, as ours
  return 0;
}

SystemBus::SystemBus() : answers_(std::make_unique<Answers>()) {}

SystemBus::~SystemBus() {
  close();
}

// Nobody who is still asked may find the answers gone.
void SystemBus::close() {
  sd_bus_close_unref(bus_);
  bus_ = nullptr;
  ask_inhibitors_at_ = ask_network_at_ = ask_power_at_ = ask_sessions_at_ = SteadyTime{};
}

void SystemBus::open(SteadyTime now) {
  if (now < open_at_) return;
  open_at_ = now + reopen_interval;
  if (sd_bus_open_system(&bus_) < 0) {
    bus_ = nullptr;
    return answers_->forget();
  }
  sd_bus_set_method_call_timeout(bus_, microseconds(answer_patience));
  for (auto& [name, session] : answers_->sessions) session.pending = false;
  for (auto& [name, ups] : answers_->upses) ups.pending = false;
  answers_->delay_asked = false;
  // Without logind nobody says it, and suspending goes its way unseen.
  (void)sd_bus_match_signal_async(bus_, nullptr, login_service, login_object, login_manager,
                                  "PrepareForSleep", Answers::take_sleep, nullptr, answers_.get());
}

void SystemBus::process() {
  int more = 1;
  while (bus_ != nullptr && (more = sd_bus_process(bus_, nullptr)) > 0) {
  }
  if (more >= 0) return;
  close();
  // A bus that stands still has not taken back what its services said.
  if (!answers_->waits()) answers_->forget();
}

bool SystemBus::serve(SteadyTime now) {
  if (bus_ == nullptr) open(now);
  process();
  if (bus_ != nullptr) ask(now);
  process();
  return std::exchange(answers_->news, false);
}

void SystemBus::ask(SteadyTime now) {
  Answers& all = *answers_;
  if (now >= ask_inhibitors_at_) {
    ask_inhibitors_at_ = now + inhibitors_interval;
    Answers::ask(bus_, all.login, now, login_service, login_object, login_manager, "ListInhibitors",
                 Answers::take_inhibitors, &all, "");
    delay_sleep(now);
  }
  if (now >= ask_network_at_) {
    ask_network_at_ = now + network_interval;
    Answers::ask(bus_, all.network, now, network_service, "/org/freedesktop/NetworkManager", properties,
                 "Get", Answers::take_metered, &all, "ss", network_service, "Metered");
  }
  const bool power_due = now >= ask_power_at_;
  if (power_due) {
    ask_power_at_ = now + power_interval;
    Answers::ask(bus_, all.power, now, power_service, power_object, power_service, "EnumerateDevices",
                 Answers::take_devices, &all, "");
  }
  if (std::exchange(all.other_profiles_name, false) || power_due) {
    const ProfilesName& name = profiles_names[all.profiles_name];
    Answers::ask(bus_, all.profiles, now, name.service, name.object, properties, "Get", Answers::take_profile,
                 &all, "ss", name.service, "ActiveProfile");
  }
}

void SystemBus::settle() {
  Answers& all = *answers_;
  if (std::exchange(all.settled, true)) return;
  const SteadyTime end = system_clock().steady() + first_answers_max;
  while (bus_ != nullptr && all.waits()) {
    const SteadyTime at = system_clock().steady();
    if (at >= end || sd_bus_wait(bus_, microseconds(std::chrono::duration_cast<Duration>(end - at))) < 0)
      return;
    process();
  }
}

io::Waitable SystemBus::waitable() const {
  return bus_ == nullptr ? io::Waitable() : io::Waitable(sd_bus_get_fd(bus_));
}

void SystemBus::delay_sleep(SteadyTime now) {
  Answers& all = *answers_;
  if (all.delay.valid() || all.delay_asked || all.sleeping || bus_ == nullptr) return;
  all.delay_asked = Answers::ask(bus_, all.login, now, login_service, login_object, login_manager, "Inhibit",
                                 Answers::take_delay, &all, "ssss", "sleep", "Gleaner",
                                 "stops computing and makes its work safe", "delay");
}

std::vector<Observation> SystemBus::observe_sleep(SteadyTime now) {
  Answers& all = *answers_;
  if (!all.sleeping) {
    if (sleep_told_) delay_sleep(now);  // awake again: the next time, too
    sleep_told_.reset();
    return {};
  }
  if (!sleep_told_) sleep_told_ = now;
  const Duration since = std::chrono::duration_cast<Duration>(now - *sleep_told_);
  if (since >= sleep_settles) all.delay.reset();
  if (since >= sleep_forgotten) all.sleeping = false;
  return {{Observation::Kind::sleep,
           "this computer is about to sleep",
           Duration{0},
           {},
           0,
           all.delay.valid() ? "and waits until kernels are stopped" : "by logind"}};
}

std::vector<Observation> SystemBus::observe(SteadyTime now) const {
  std::vector<Observation> found = answers_->inhibitors;
  const bool network_silent = answers_->network.silent(now);
  if (answers_->metered && (*answers_->metered || !network_silent))
    found.push_back({Observation::Kind::metered, "network", Duration{0}, {}, *answers_->metered ? 1.0 : 0.0});
  const bool power_silent = answers_->power.silent(now);
  const bool profiles_silent = answers_->profiles.silent(now);
  for (const auto& [object, ups] : answers_->upses)
    if (ups.listed && ups.told && (ups.used || !power_silent))
      found.push_back({Observation::Kind::battery,
                       ups.name,
                       Duration{0},
                       {},
                       ups.used ? 1.0 : 0.0,
                       ups.used ? "discharging" : "on mains power",
                       ups.percent});
  if (answers_->saves_energy)
    found.push_back({Observation::Kind::saver, "power profile power-saver", Duration{0}, {}, 0});
  for (const auto& [silent, name] :
       {std::pair(answers_->login.silent(now), "logind"), std::pair(network_silent, "NetworkManager"),
        std::pair(power_silent, "UPower"), std::pair(profiles_silent, "power-profiles-daemon")})
    if (silent)
      found.push_back(
          {Observation::Kind::silent, std::string(name) + " does not answer", Duration{0}, {}, 0});
  return found;
}

std::optional<Duration> SystemBus::idle_of(const std::string& name, SteadyTime now) {
  Answers& all = *answers_;
  if (bus_ != nullptr && now >= ask_sessions_at_) {
    ask_sessions_at_ = now + sessions_interval;
    std::erase_if(all.sessions, [](const auto& one) { return !one.second.wanted && !one.second.pending; });
    for (auto& [other, session] : all.sessions) session.wanted = false;
  }
  Answers::Session& session = all.sessions[name];
  session.all = &all;
  char* path = nullptr;
  if (!std::exchange(session.wanted, true) && !session.pending && bus_ != nullptr &&
      sd_bus_path_encode("/org/freedesktop/login1/session", name.c_str(), &path) >= 0)
    session.pending = Answers::ask(bus_, all.login, now, login_service, path, properties, "GetAll",
                                   Answers::take_session, &session, "s", "org.freedesktop.login1.Session");
  ::free(path);
  if (!session.told || all.login.silent(now)) return std::nullopt;
  if (session.locked) return std::chrono::hours{1};  // whoever locks a screen leaves it
  if (!session.idle) return std::nullopt;
  return std::max(Duration{0}, std::chrono::duration_cast<Duration>(now - session.idle_since));
}

}  // namespace gleaner::platform
