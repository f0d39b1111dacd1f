#include "client/policy/power.h"

#include "tests/catch.h"

namespace gleaner::client_policy {
namespace {

PowerSupply battery(const std::string& name, const std::string& status) {
  return {name, "Battery", status};
}
PowerSupply outside(const std::string& name, const std::string& type, bool online) {
  return {name, type, "", online};
}
// Names of those that are run on.
std::string used(const std::vector<PowerSupply>& supplies) {
  std::string names;
  for (const BatteryState& one : batteries_of(supplies))
    if (one.used) names += (names.empty() ? "" : " ") + one.name;
  return names;
}

TEST_CASE("A computer runs on its battery when the mains are offline, whatever the battery calls itself") {
  const std::string status = GENERATE("Discharging", "Unknown", "Not charging", "Full", "");
  INFO(status);
  CHECK(used({outside("AC", "Mains", false), battery("BAT0", status)}) == "BAT0");
  CHECK(used({battery("BAT0", status), outside("AC", "Mains", true)}) ==
        (status == "Discharging" ? "BAT0" : ""));
  CHECK(used({battery("BAT0", status)}) == (status == "Discharging" ? "BAT0" : ""));
}

TEST_CASE("A charger on any plug is power from outside") {
  CHECK(used({outside("AC", "Mains", false), outside("ucsi-1", "USB", true), battery("BAT0", "Not charging")})
            .empty());
  CHECK(used({outside("AC", "Mains", false), outside("ucsi-1", "USB", false), battery("BAT0", "Unknown")}) ==
        "BAT0");
  // An adapter whose word is wrong: what charges has power.
  CHECK(used({outside("AC", "Mains", false), battery("BAT0", "Charging")}).empty());
}

TEST_CASE("Of several batteries one that is used suffices") {
  CHECK(used({outside("AC", "Mains", false), battery("BAT0", "Unknown"), battery("BAT1", "Discharging")}) ==
        "BAT0 BAT1");
  CHECK(used({outside("AC", "Mains", true), battery("BAT0", "Charging"), battery("BAT1", "Not charging")})
            .empty());
  CHECK(used({outside("AC", "Mains", true), battery("BAT0", "Full"), battery("BAT1", "Discharging")}) ==
        "BAT1");
}

TEST_CASE("A UPS that is discharging is run on; one that is not tells of itself") {
  CHECK(used({{"ups", "UPS", "Discharging"}}) == "ups");
  CHECK(used({{"ups", "UPS", "Full"}, outside("AC", "Mains", false)}).empty());
}

TEST_CASE("Batteries of mice and empty bays do not count") {
  PowerSupply mouse = battery("hidpp_battery_0", "Discharging");
  mouse.of_device = true;
  PowerSupply bay = battery("BAT1", "Unknown");
  bay.present = false;
  CHECK(batteries_of({mouse, bay, outside("AC", "Mains", false)}).empty());
  // A mouse that is charged from the computer is no power from outside.
  PowerSupply charger = outside("wacom", "USB", true);
  charger.of_device = true;
  CHECK(used({charger, outside("AC", "Mains", false), battery("BAT0", "Unknown")}) == "BAT0");
}

TEST_CASE("It is said what the battery and the mains say") {
  PowerSupply one = battery("BAT0", "Not charging");
  one.percent = 79;
  const auto states = batteries_of({one, outside("ADP1", "Mains", false)});
  REQUIRE(states.size() == 1);
  CHECK(states[0].words == "Not charging, and ADP1 is offline");
  CHECK(states[0].percent == 79);
  CHECK(batteries_of({one})[0].words == "on mains power");
}

}  // namespace
}  // namespace gleaner::client_policy
