// Whether this computer runs on a battery, by what its power supplies say of themselves (the kernel's
// Documentation/ABI/testing/sysfs-class-power). Rules:
//   a battery or a UPS that is discharging is one that is run on;
//   so are batteries when every supply from outside is offline and none of them is charging, whatever they
//   call themselves ("Unknown", "Not charging"); batteries of mice, headsets and telephones do not count, nor
//   do bays without a battery.
// Pure. Cost: O(supplies).
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace gleaner::client_policy {

struct PowerSupply {
  std::string name;         // "BAT0"
  std::string type;         // "Battery", "UPS", "Mains", "USB"; others do not count
  std::string status = {};  // "Discharging", "Charging", "Not charging", "Full", "Unknown"; empty: none
  std::optional<bool> online = {};  // of a supply from outside
  bool of_device = false;           // of something that is connected, not of the computer
  bool present = true;
  std::optional<double> percent = {};  // of its charge
};

struct BatteryState {
  std::string name;
  bool used = false;  // the computer runs on it
  std::string words;  // "discharging", "Not charging, and AC is offline", "on mains power"
  std::optional<double> percent;
};

[[nodiscard]] std::vector<BatteryState> batteries_of(const std::vector<PowerSupply>& supplies);

}  // namespace gleaner::client_policy
