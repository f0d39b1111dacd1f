// What services of the system's D-Bus know: NetworkManager, whether the network costs by use (its D-Bus
// reference: NMMetered), and logind, which programs keep the computer awake (org.freedesktop.login1(5):
// ListInhibitors; systemd-inhibit(1)), and when it is about to sleep (PrepareForSleep; a delay inhibitor
// makes sleep wait until kernels are stopped). Asked seldom, on a connection that is kept; a service that is
// not there, or does not answer soon, tells nothing.
#include <fcntl.h>
#include <systemd/sd-bus.h>

#include <cstring>

#include "client/agent/report/report.h"
#include "client/platform/activity_monitor.h"

namespace gleaner::platform {
namespace {

constexpr std::uint64_t service_microseconds = 200'000;
constexpr std::uint32_t metered_yes = 1;
constexpr std::uint32_t metered_guess_yes = 3;
constexpr int inhibitors_max = 8;
constexpr const char* login_service = "org.freedesktop.login1";
constexpr const char* login_object = "/org/freedesktop/login1";
constexpr const char* login_manager = "org.freedesktop.login1.Manager";

bool has_word(const std::string& list, const std::string& word) {
  return (":" + list + ":").find(":" + word + ":") != std::string::npos;
}

int take_sleep(sd_bus_message* message, void* sleeping, sd_bus_error*) {
  int sleeps = 0;
  if (sd_bus_message_read(message, "b", &sleeps) > 0) *static_cast<bool*>(sleeping) = sleeps != 0;
  return 0;
}

}  // namespace

SystemBus::~SystemBus() {
  close();
}

void SystemBus::close() {
  sd_bus_flush_close_unref(bus_);
  bus_ = nullptr;
  delay_.reset();
  sleeping_ = false;
}

sd_bus* SystemBus::open() {
  if (bus_ != nullptr && sd_bus_is_open(bus_) <= 0) close();
  if (bus_ != nullptr) return bus_;
  if (sd_bus_open_system(&bus_) < 0) {
    bus_ = nullptr;
    return nullptr;
  }
  sd_bus_set_method_call_timeout(bus_, service_microseconds);
  // Without logind nobody says it, and suspending goes its way unseen.
  (void)sd_bus_match_signal(bus_, nullptr, login_service, login_object, login_manager, "PrepareForSleep",
                            take_sleep, &sleeping_);
  return bus_;
}

// What came unasked must not pile up; only the word about sleep is of interest.
void SystemBus::clear_away() {
  while (bus_ != nullptr && sd_bus_process(bus_, nullptr) > 0) {
  }
}

int SystemBus::descriptor() const {
  return bus_ == nullptr ? -1 : sd_bus_get_fd(bus_);
}

// Not permitted, or no logind: then there is only the moment that it takes to fall asleep.
void SystemBus::delay_sleep() {
  if (delay_.valid() || sleeping_ || open() == nullptr) return;
  sd_bus_message* reply = nullptr;
  int given = -1;
  if (sd_bus_call_method(bus_, login_service, login_object, login_manager, "Inhibit", nullptr, &reply, "ssss",
                         "sleep", "Gleaner", "stops computing and makes its work safe", "delay") >= 0 &&
      sd_bus_message_read(reply, "h", &given) > 0)
    delay_ = io::Descriptor(::fcntl(given, F_DUPFD_CLOEXEC, 3));
  sd_bus_message_unref(reply);
}

std::vector<Observation> SystemBus::observe_sleep(SteadyTime now) {
  clear_away();
  if (bus_ != nullptr && sd_bus_is_open(bus_) <= 0) close();  // or its end would wake us for ever
  if (!sleeping_) {
    if (bus_ != nullptr && sleep_told_) delay_sleep();  // awake again: the next time, too
    sleep_told_.reset();
    return {};
  }
  if (!sleep_told_) sleep_told_ = now;
  const Duration since = std::chrono::duration_cast<Duration>(now - *sleep_told_);
  if (since >= sleep_settles) delay_.reset();
  if (since >= sleep_forgotten) sleeping_ = false;
  return {{Observation::Kind::sleep,
           "this computer is about to sleep",
           Duration{0},
           {},
           0,
           delay_.valid() ? "and waits until kernels are stopped" : "by logind"}};
}

std::vector<Observation> SystemBus::observe_network() {
  std::vector<Observation> found;
  std::uint32_t metered = 0;
  sd_bus_message* call = nullptr;
  sd_bus_message* reply = nullptr;
  // Asked so that a service that is not there is not started for us.
  if (sd_bus* const bus = open();
      bus != nullptr &&
      sd_bus_message_new_method_call(bus, &call, "org.freedesktop.NetworkManager",
                                     "/org/freedesktop/NetworkManager", "org.freedesktop.DBus.Properties",
                                     "Get") >= 0 &&
      sd_bus_message_set_auto_start(call, 0) >= 0 &&
      sd_bus_message_append(call, "ss", "org.freedesktop.NetworkManager", "Metered") >= 0 &&
      sd_bus_call(bus, call, 0, nullptr, &reply) >= 0 && sd_bus_message_read(reply, "v", "u", &metered) > 0)
    found.push_back({Observation::Kind::metered,
                     "network",
                     Duration{0},
                     {},
                     metered == metered_yes || metered == metered_guess_yes ? 1.0 : 0.0});
  sd_bus_message_unref(call);
  sd_bus_message_unref(reply);
  clear_away();
  return found;
}

std::vector<Observation> SystemBus::observe_inhibitors() {
  std::vector<Observation> found;
  sd_bus_message* reply = nullptr;
  if (sd_bus* const bus = open(); bus != nullptr &&
                                  sd_bus_call_method(bus, login_service, login_object, login_manager,
                                                     "ListInhibitors", nullptr, &reply, "") >= 0 &&
                                  sd_bus_message_enter_container(reply, 'a', "(ssssuu)") > 0) {
    const char* what = nullptr;
    const char* who = nullptr;
    const char* why = nullptr;
    const char* mode = nullptr;
    while (found.size() < inhibitors_max &&
           sd_bus_message_read(reply, "(ssssuu)", &what, &who, &why, &mode, nullptr, nullptr) > 0)
      if (has_word(what, "idle") && std::strcmp(mode, "block") == 0)
        found.push_back({Observation::Kind::watching,
                         agent::printable(std::string(who) + " keeps this computer awake (" + why + ")"),
                         Duration{0},
                         {},
                         0});
    delay_sleep();
  }
  sd_bus_message_unref(reply);
  clear_away();
  return found;
}

}  // namespace gleaner::platform
