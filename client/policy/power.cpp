#include "client/policy/power.h"

#include <algorithm>

namespace gleaner::client_policy {
namespace {

bool stores(const PowerSupply& one) {
  return (one.type == "Battery" || one.type == "UPS") && !one.of_device && one.present;
}

bool is_outside(const PowerSupply& one) {
  return (one.type == "Mains" || one.type == "USB" || one.type == "Wireless") && !one.of_device && one.online;
}

}  // namespace

std::vector<BatteryState> batteries_of(const std::vector<PowerSupply>& supplies) {
  std::string offline;  // the first that is
  bool connected = false;
  bool charging = false;
  for (const PowerSupply& one : supplies) {
    if (stores(one) && one.status == "Charging") charging = true;
    if (!is_outside(one)) continue;
    connected = connected || *one.online;
    if (!*one.online && (offline.empty() || one.type == "Mains")) offline = one.name;
  }
  const bool alone = !offline.empty() && !connected && !charging;
  std::vector<BatteryState> found;
  for (const PowerSupply& one : supplies) {
    if (!stores(one)) continue;
    BatteryState state{one.name, true, "discharging", one.percent};
    if (one.status != "Discharging") {
      // A UPS says of itself whether it is used: computers without one have a mains adapter as well.
      state.used = alone && one.type == "Battery";
      const std::string status = one.status.empty() ? "Unknown" : one.status;
      state.words = state.used ? status + ", and " + offline + " is offline" : "on mains power";
    }
    found.push_back(std::move(state));
  }
  return found;
}

}  // namespace gleaner::client_policy
