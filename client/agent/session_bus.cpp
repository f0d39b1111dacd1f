// The session's D-Bus services: GNOME's idle times (org.gnome.Mutter.IdleMonitor: watches that fire once),
// screen savers and locks (org.freedesktop.ScreenSaver, which is also KDE's, and GNOME's, Cinnamon's and
// MATE's), and what keeps the session awake (org.gnome.SessionManager, and the org.freedesktop one that KDE
// and Xfce serve). Every service may be absent, come and go; nothing is waited for.
#include <poll.h>
#include <systemd/sd-bus.h>

#include <array>
#include <cstring>

#include "client/agent/source.h"

namespace gleaner::agent {
namespace {

constexpr std::uint32_t gnome_inhibit_idle = 8;
constexpr std::uint64_t answer_microseconds = 5'000'000;

struct Service {
  const char* name;
  const char* path;
  const char* interface;
};
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

class BusSource final : public Source {
 public:
  BusSource(sd_bus* bus, Duration granularity) : bus_(bus), granularity_(granularity) {}
  ~BusSource() override { sd_bus_flush_close_unref(bus_); }
  BusSource(const BusSource&) = delete;
  BusSource& operator=(const BusSource&) = delete;

  Status open(SteadyTime now) {
    sd_bus_set_method_call_timeout(bus_, answer_microseconds);
    const auto listen = [this](const Service& service, const char* member, sd_bus_message_handler_t handler) {
      return sd_bus_match_signal_async(bus_, nullptr, service.name, service.path, service.interface, member,
                                       handler, nullptr, this) >= 0;
    };
    bool listening = listen(mutter, "WatchFired", on_watch_fired) &&
                     listen(gnome_session, "InhibitorAdded", on_inhibitors_changed) &&
                     listen(gnome_session, "InhibitorRemoved", on_inhibitors_changed) &&
                     listen(power, "HasInhibitChanged", on_inhibitors_changed);
    for (const Service& saver : savers)
      listening = listening && listen(saver, "ActiveChanged", on_saver_changed);
    listening =
        listening && sd_bus_match_signal_async(bus_, nullptr, "org.freedesktop.DBus", "/org/freedesktop/DBus",
                                               "org.freedesktop.DBus", "NameOwnerChanged", on_owner_changed,
                                               nullptr, this) >= 0;
    if (!listening) return Error{ErrorKind::not_found, "the session's D-Bus takes no listeners"};
    watch_mutter();
    ask_savers();
    ask_inhibitors();
    return serve(now);
  }

  int descriptor() const override { return sd_bus_get_fd(bus_); }

  SteadyTime wait_until() const override {
    std::uint64_t at = 0;
    if (sd_bus_get_timeout(bus_, &at) < 0 || at == UINT64_MAX) return SteadyTime::max();
    return SteadyTime{Duration{static_cast<std::int64_t>(at)}};  // of CLOCK_MONOTONIC, as ours
  }

  Status serve(SteadyTime now) override {
    now_ = now;
    int more = 0;
    while ((more = sd_bus_process(bus_, nullptr)) > 0) {
    }
    if (more < 0) return Error{ErrorKind::unavailable, "the session's D-Bus is gone"};
    return {};
  }

  void say(SessionReport& report, SteadyTime now) const override {
    if (watching_) report.inputs.push_back(presence_.input("GNOME", now));
    if (saver_known_) report.locked = saver_active_;
    if (gnome_inhibited_)
      report.busy.push_back({SessionReport::Busy::Kind::inhibitor, "a program keeps the session awake"});
    if (power_inhibited_)
      report.busy.push_back({SessionReport::Busy::Kind::inhibitor, "a program keeps the screen on"});
  }

 private:
  static BusSource& self(void* data) { return *static_cast<BusSource*>(data); }
  static bool failed(sd_bus_message* reply) { return sd_bus_message_is_method_error(reply, nullptr) != 0; }

  // Asks, and does not wait. A service that is not there is not started for us.
  template <typename... Arguments>
  void ask(const Service& service, const char* member, sd_bus_message_handler_t answer, const char* types,
           Arguments... arguments) {
    sd_bus_message* call = nullptr;
    if (sd_bus_message_new_method_call(bus_, &call, service.name, service.path, service.interface, member) >=
            0 &&
        sd_bus_message_set_auto_start(call, 0) >= 0 && sd_bus_message_append(call, types, arguments...) >= 0)
      (void)sd_bus_call_async(bus_, nullptr, call, answer, this, 0);
    sd_bus_message_unref(call);
  }

  void watch_mutter() {
    ask(
        mutter, "AddIdleWatch",
        [](sd_bus_message* reply, void* data, sd_bus_error*) {
          BusSource& source = self(data);
          if (failed(reply) || sd_bus_message_read(reply, "u", &source.idle_watch_) < 0) return 0;
          source.watching_ = true;
          source.presence_.active();  // until the watch fires
          return 0;
        },
        "t", milliseconds());
  }

  // A watch for activity fires once: there is one while nobody is here.
  void watch_activity() {
    ask(
        mutter, "AddUserActiveWatch",
        [](sd_bus_message* reply, void* data, sd_bus_error*) {
          BusSource& source = self(data);
          // Without it nobody would say that somebody came back.
          if (failed(reply) || sd_bus_message_read(reply, "u", &source.active_watch_) < 0)
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

  void ask_savers() {
    for (const Service& saver : savers) ask(saver, "GetActive", on_saver_answer, "");
  }

  static int on_saver_answer(sd_bus_message* reply, void* data, sd_bus_error*) {
    return failed(reply) ? 0 : on_saver_changed(reply, data, nullptr);
  }

  static int on_saver_changed(sd_bus_message* message, void* data, sd_bus_error*) {
    int active = 0;
    if (sd_bus_message_read(message, "b", &active) < 0) return 0;
    self(data).saver_known_ = true;
    self(data).saver_active_ = active != 0;
    return 0;
  }

  void ask_inhibitors() {
    ask(
        gnome_session, "IsInhibited",
        [](sd_bus_message* reply, void* data, sd_bus_error*) {
          return take_flag(reply, self(data).gnome_inhibited_);
        },
        "u", gnome_inhibit_idle);
    ask(
        power, "HasInhibit",
        [](sd_bus_message* reply, void* data, sd_bus_error*) {
          return take_flag(reply, self(data).power_inhibited_);
        },
        "");
  }

  static int take_flag(sd_bus_message* reply, bool& flag) {
    int value = 0;
    flag = !failed(reply) && sd_bus_message_read(reply, "b", &value) >= 0 && value != 0;
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
    BusSource& source = self(data);
    const auto is = [name](const Service& service) { return std::strcmp(name, service.name) == 0; };
    const bool here = *after != '\0';
    if (is(mutter)) {
      source.watching_ = false;
      if (here) source.watch_mutter();
    }
    if (is(gnome_session) || is(power)) source.ask_inhibitors();
    for (const Service& saver : savers) {
      if (!is(saver)) continue;
      source.saver_known_ = false;
      if (here) source.ask_savers();
    }
    return 0;
  }

  [[nodiscard]] std::uint64_t milliseconds() const {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(granularity_).count());
  }

  sd_bus* bus_;
  Duration granularity_;
  SteadyTime now_{};
  Presence presence_;
  bool watching_ = false;
  std::uint32_t idle_watch_ = 0;
  std::uint32_t active_watch_ = 0;
  bool saver_known_ = false;
  bool saver_active_ = false;
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
