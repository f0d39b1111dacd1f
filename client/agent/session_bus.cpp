// The session's D-Bus services: GNOME's idle times (org.gnome.Mutter.IdleMonitor: watches that fire once),
// screen savers and locks (org.freedesktop.ScreenSaver, which is also KDE's, and GNOME's, Cinnamon's and
// MATE's), and what keeps the session awake (org.gnome.SessionManager, and the org.freedesktop one that KDE
// and Xfce serve). Every service may be absent, come and go, and stand still; nothing is waited for. Whoever
// made an inhibitor and died is none of ours to find: the services do, and say so.
#include <systemd/sd-bus.h>

#include <array>
#include <cstring>

#include "client/agent/source.h"

namespace gleaner::agent {
namespace {

constexpr std::uint32_t gnome_inhibit_idle = 8;

struct Service {
  const char* name;
  const char* path;
  const char* interface;
};
constexpr Service daemon = {"org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus"};
constexpr Service mutter = {"org.gnome.Mutter.IdleMonitor", "/org/gnome/Mutter/IdleMonitor/Core",
                            "org.gnome.Mutter.IdleMonitor"};
constexpr Service gnome_session = {"org.gnome.SessionManager", "/org/gnome/SessionManager",
                                   "org.gnome.SessionManager"};
constexpr Service power = {"org.freedesktop.PowerManagement.Inhibit",
                           "/org/freedesktop/PowerManagement/Inhibit",
                           "org.freedesktop.PowerManagement.Inhibit"};
constexpr std::array<Service, 5> savers = {{
    {"org.freedesktop.ScreenSaver", "/ScreenSaver", "org.freedesktop.ScreenSaver"},
    {"org.freedesktop.ScreenSaver", "/org/freedesktop/ScreenSaver", "org.freedesktop.ScreenSaver"},
    {"org.gnome.ScreenSaver", "/org/gnome/ScreenSaver", "org.gnome.ScreenSaver"},
    {"org.cinnamon.ScreenSaver", "/org/cinnamon/ScreenSaver", "org.cinnamon.ScreenSaver"},
    {"org.mate.ScreenSaver", "/org/mate/ScreenSaver", "org.mate.ScreenSaver"},
}};

class BusSource;

// A service, and whether it answers.
struct Partner {
  BusSource* source = nullptr;
  const Service* service = nullptr;
  bool absent = false;                // it said so itself, or the bus did
  std::optional<SteadyTime> asked{};  // and has not answered since
  std::optional<bool> active{};       // a screen saver
  [[nodiscard]] bool silent(SteadyTime now) const { return asked && now - *asked >= answer_patience; }
};

class BusSource final : public Source {
 public:
  BusSource(sd_bus* bus, Duration granularity) : bus_(bus), granularity_(granularity) {
    Partner* next = partners_.data();
    for (const Service* service : {&daemon, &mutter, &gnome_session, &power}) *next++ = {this, service};
    for (const Service& saver : savers) *next++ = {this, &saver};
  }
  ~BusSource() override { sd_bus_close_unref(bus_); }
  BusSource(const BusSource&) = delete;
  BusSource& operator=(const BusSource&) = delete;

  Status open(SteadyTime now) {
    now_ = now;
    sd_bus_set_method_call_timeout(bus_, microseconds(answer_patience));
    const auto listen = [this](Partner& partner, const char* member, sd_bus_message_handler_t handler) {
      const Service& service = *partner.service;
      return sd_bus_match_signal_async(bus_, nullptr, service.name, service.path, service.interface, member,
                                       handler, nullptr, &partner) >= 0;
    };
    bool listening = listen(partners_[of_mutter], "WatchFired", on_watch_fired) &&
                     listen(partners_[of_gnome], "InhibitorAdded", on_inhibitors_changed) &&
                     listen(partners_[of_gnome], "InhibitorRemoved", on_inhibitors_changed) &&
                     listen(partners_[of_power], "HasInhibitChanged", on_inhibitors_changed) &&
                     listen(partners_[of_daemon], "NameOwnerChanged", on_owner_changed);
    for (std::size_t i = of_savers; i < partners_.size(); ++i)
      listening = listening && listen(partners_[i], "ActiveChanged", on_saver_changed);
    if (!listening) return Error{ErrorKind::not_found, "the session's D-Bus takes no listeners"};
    return serve(now, Probe::yes);
  }

  io::Waitable waitable() const override { return io::Waitable(sd_bus_get_fd(bus_)); }

  SteadyTime wait_until() const override {
    SteadyTime until = SteadyTime::max();
    for (const Partner& partner : partners_)
      if (partner.asked && !partner.silent(now_)) until = std::min(until, *partner.asked + answer_patience);
    std::uint64_t at = 0;
    if (sd_bus_get_timeout(bus_, &at) >= 0 && at != UINT64_MAX)
      until =
          std::min(until, SteadyTime{Duration{static_cast<std::int64_t>(at)}});  // CLOCK_MONOTONIC, as ours
    return until;
  }

  Status serve(SteadyTime now, Probe probe) override {
    now_ = now;
    if (probe == Probe::yes) ask_all();
    int more = 0;
    while ((more = sd_bus_process(bus_, nullptr)) > 0) {
    }
    if (more < 0) return Error{ErrorKind::unavailable, "the session's D-Bus is gone"};
    return {};
  }

  void say(SessionReport& report, SteadyTime now) const override {
    const bool silent = partners_[of_daemon].silent(now);
    if (silent) report.missing.emplace_back("the session's D-Bus does not answer");
    const Service* before = nullptr;
    for (const Partner& partner : partners_) {
      if (silent || !partner.silent(now)) continue;
      // One service may be looked for at two places.
      if (before == nullptr || std::strcmp(before->name, partner.service->name) != 0)
        report.missing.push_back(std::string(partner.service->name) + " does not answer");
      before = partner.service;
    }
    if (watching_ && !silent && !partners_[of_mutter].silent(now))
      report.inputs.push_back(presence_.input("GNOME", now));
    for (const Partner& saver : partners_)
      if (saver.active && !silent && !saver.silent(now))
        report.locked = *saver.active || report.locked.value_or(false);
    if (gnome_inhibited_)
      report.busy.push_back({SessionReport::Busy::Kind::inhibitor, "a program keeps the session awake"});
    if (power_inhibited_)
      report.busy.push_back({SessionReport::Busy::Kind::inhibitor, "a program keeps the screen on"});
  }

 private:
  enum : std::size_t { of_daemon, of_mutter, of_gnome, of_power, of_savers };

  static Partner& partner(void* data) { return *static_cast<Partner*>(data); }
  static BusSource& self(void* data) { return *partner(data).source; }
  static std::uint64_t microseconds(Duration duration) {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(duration).count());
  }

  // Did it do what it was asked? An answer of any kind is a sign of life.
  static bool succeeded(sd_bus_message* reply, void* data) {
    const bool failed = sd_bus_message_is_method_error(reply, nullptr) != 0;
    const int why = failed ? sd_bus_message_get_errno(reply) : 0;
    if (why != ETIMEDOUT) partner(data).asked.reset();
    if (why == EHOSTUNREACH || why == ENXIO) partner(data).absent = true;  // no such service, or no owner
    return !failed;
  }

  // Asks, and does not wait. A service that is not there is not started for us.
  template <typename... Arguments>
  void ask(Partner& partner, const char* member, sd_bus_message_handler_t answer, const char* types,
           Arguments... arguments) {
    const Service& service = *partner.service;
    sd_bus_message* call = nullptr;
    if (sd_bus_message_new_method_call(bus_, &call, service.name, service.path, service.interface, member) >=
            0 &&
        sd_bus_message_set_auto_start(call, 0) >= 0 &&
        sd_bus_message_append(call, types, arguments...) >= 0 &&
        sd_bus_call_async(bus_, nullptr, call, answer, &partner, 0) >= 0 && !partner.asked)
      partner.asked = now_;
    sd_bus_message_unref(call);
  }

  static int on_sign_of_life(sd_bus_message* reply, void* data, sd_bus_error*) {
    (void)succeeded(reply, data);  // also when it cannot tell
    return 0;
  }

  // Are all still there? What was told unasked may have been lost, too.
  void ask_all() {
    const bool silent = partners_[of_daemon].silent(now_);
    ask(partners_[of_daemon], "GetId", on_sign_of_life, "");
    if (silent) return;
    if (watching_)
      ask(partners_[of_mutter], "GetIdletime", on_sign_of_life, "");
    else if (!partners_[of_mutter].absent)
      watch_mutter();
    ask_inhibitors();
    for (std::size_t i = of_savers; i < partners_.size(); ++i) ask_saver(partners_[i]);
  }

  void watch_mutter() {
    ask(
        partners_[of_mutter], "AddIdleWatch",
        [](sd_bus_message* reply, void* data, sd_bus_error*) {
          BusSource& source = self(data);
          if (!succeeded(reply, data) || sd_bus_message_read(reply, "u", &source.idle_watch_) < 0) return 0;
          source.watching_ = true;
          source.presence_.active();  // until the watch fires
          return 0;
        },
        "t", microseconds(granularity_) / 1000);
  }

  // A watch for activity fires once: there is one while nobody is here.
  void watch_activity() {
    ask(
        partners_[of_mutter], "AddUserActiveWatch",
        [](sd_bus_message* reply, void* data, sd_bus_error*) {
          BusSource& source = self(data);
          // Without it nobody would say that somebody came back.
          if (!succeeded(reply, data) || sd_bus_message_read(reply, "u", &source.active_watch_) < 0)
            source.watching_ = false;
          return 0;
        },
        "");
  }

  static int on_watch_fired(sd_bus_message* signal, void* data, sd_bus_error*) {
    BusSource& source = self(data);
    std::uint32_t watch = 0;
    if (sd_bus_message_read(signal, "u", &watch) < 0) return 0;
    if (watch == source.idle_watch_) {
      source.presence_.idle(source.now_ - source.granularity_);
      source.watch_activity();
    } else if (watch == source.active_watch_) {
      source.presence_.active();
    }
    return 0;
  }

  void ask_saver(Partner& saver) {
    if (!saver.absent) ask(saver, "GetActive", on_saver_answer, "");
  }

  static int on_saver_answer(sd_bus_message* reply, void* data, sd_bus_error*) {
    return succeeded(reply, data) ? on_saver_changed(reply, data, nullptr) : 0;
  }

  static int on_saver_changed(sd_bus_message* message, void* data, sd_bus_error*) {
    int active = 0;
    if (sd_bus_message_read(message, "b", &active) < 0) return 0;
    partner(data).active = active != 0;
    return 0;
  }

  void ask_inhibitors() {
    if (!partners_[of_gnome].absent)
      ask(
          partners_[of_gnome], "IsInhibited",
          [](sd_bus_message* reply, void* data, sd_bus_error*) {
            return take_flag(reply, data, self(data).gnome_inhibited_);
          },
          "u", gnome_inhibit_idle);
    if (!partners_[of_power].absent)
      ask(
          partners_[of_power], "HasInhibit",
          [](sd_bus_message* reply, void* data, sd_bus_error*) {
            return take_flag(reply, data, self(data).power_inhibited_);
          },
          "");
  }

  // One that does not answer may still be inhibited.
  static int take_flag(sd_bus_message* reply, void* data, bool& flag) {
    int value = 0;
    const bool told = succeeded(reply, data) && sd_bus_message_read(reply, "b", &value) >= 0;
    if (told || !partner(data).asked) flag = value != 0;
    return 0;
  }

  static int on_inhibitors_changed(sd_bus_message*, void* data, sd_bus_error*) {
    self(data).ask_inhibitors();
    return 0;
  }

  static int on_owner_changed(sd_bus_message* signal, void* data, sd_bus_error*) {
    const char* name = nullptr;
    const char* before = nullptr;
    const char* after = nullptr;
    if (sd_bus_message_read(signal, "sss", &name, &before, &after) < 0) return 0;
    for (Partner& one : self(data).partners_)
      if (std::strcmp(name, one.service->name) == 0) self(data).take_owner(one, *after != '\0');
    return 0;
  }

  // Somebody else has the name now, or nobody: what was said under it is over.
  void take_owner(Partner& one, bool here) {
    one.absent = !here;
    one.asked.reset();
    one.active.reset();
    if (&one == &partners_[of_mutter]) watching_ = false;
    if (&one == &partners_[of_gnome]) gnome_inhibited_ = false;
    if (&one == &partners_[of_power]) power_inhibited_ = false;
    if (!here) return;
    if (&one == &partners_[of_mutter]) watch_mutter();
    if (&one >= &partners_[of_savers]) return ask_saver(one);
    ask_inhibitors();
  }

  sd_bus* bus_;
  Duration granularity_;
  SteadyTime now_{};
  std::array<Partner, of_savers + savers.size()> partners_;
  Presence presence_;
  bool watching_ = false;
  std::uint32_t idle_watch_ = 0;
  std::uint32_t active_watch_ = 0;
  bool gnome_inhibited_ = false;
  bool power_inhibited_ = false;
};

}  // namespace

Result<std::unique_ptr<Source>> make_bus_source(const SourceSettings& settings, SteadyTime now) {
  sd_bus* bus = nullptr;
  if (sd_bus_new(&bus) < 0) return Error{ErrorKind::internal, "no memory for D-Bus"};
  if (sd_bus_set_address(bus, settings.bus.c_str()) < 0 || sd_bus_set_bus_client(bus, 1) < 0 ||
      sd_bus_start(bus) < 0) {
    sd_bus_unref(bus);
    return Error{ErrorKind::not_found, "the session's D-Bus at " + settings.bus + " cannot be reached"};
  }
  auto source = std::make_unique<BusSource>(bus, settings.granularity);
  TRY(source->open(now));
  return std::unique_ptr<Source>(std::move(source));
}

}  // namespace gleaner::agent
