// What services of the system's D-Bus know: NetworkManager, whether the network costs by use (its D-Bus
// reference: NMMetered), and logind, which programs keep the computer awake (org.freedesktop.login1(5):
// ListInhibitors; systemd-inhibit(1)). Asked seldom, on a connection that is kept; a service that is not
// there, or does not answer soon, tells nothing.
#include <systemd/sd-bus.h>

#include <cstring>

#include "client/agent/report/report.h"
#include "client/platform/surroundings.h"

namespace gleaner::platform {
namespace {

constexpr std::uint64_t service_microseconds = 200'000;
constexpr std::uint32_t metered_yes = 1;
constexpr std::uint32_t metered_guess_yes = 3;
constexpr int inhibitors_max = 8;

bool has_word(const std::string& list, const std::string& word) {
  return (":" + list + ":").find(":" + word + ":") != std::string::npos;
}

}  // namespace

SystemBus::~SystemBus() {
  close();
}

void SystemBus::close() {
  sd_bus_flush_close_unref(bus_);
  bus_ = nullptr;
}

sd_bus* SystemBus::open() {
  if (bus_ != nullptr && sd_bus_is_open(bus_) <= 0) close();
  if (bus_ == nullptr && sd_bus_open_system(&bus_) < 0) bus_ = nullptr;
  if (bus_ != nullptr) sd_bus_set_method_call_timeout(bus_, service_microseconds);
  return bus_;
}

// What came unasked is of no interest, but must not pile up.
void SystemBus::clear_away() {
  while (bus_ != nullptr && sd_bus_process(bus_, nullptr) > 0) {
  }
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
  if (sd_bus* const bus = open();
      bus != nullptr &&
      sd_bus_call_method(bus, "org.freedesktop.login1", "/org/freedesktop/login1",
                         "org.freedesktop.login1.Manager", "ListInhibitors", nullptr, &reply, "") >= 0 &&
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
  }
  sd_bus_message_unref(reply);
  clear_away();
  return found;
}

}  // namespace gleaner::platform
