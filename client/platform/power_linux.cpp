// Power supplies, temperatures and fans as /sys shows them (the kernel's
// Documentation/ABI/testing/sysfs-class-power, -thermal and Documentation/hwmon/sysfs-interface). Which of
// them count is the policy's to say (client/policy/power.h, stepped_limit.h).
#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <map>

#include "client/agent/report/report.h"
#include "client/platform/activity_monitor.h"
#include "client/policy/power.h"

namespace gleaner::platform {
namespace {

constexpr std::size_t sensors_max = 16;  // of a kind
constexpr int inputs_max = 64;           // of a chip
constexpr int fans_max = 16;             // of a chip
// Drivers of processors' own sensors. Boards have many more that nothing is connected to.
constexpr std::array<const char*, 8> processor_chips = {
    "coretemp", "k10temp", "k8temp", "zenpower", "via_cputemp", "cpu_thermal", "soc_thermal", "scpi_sensors"};

std::string line_of(const io::Path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::optional<double> number_of(const io::Path& path) {
  std::ifstream file(path);
  double number = 0;
  return file >> number ? std::optional(number) : std::nullopt;
}

std::vector<io::Path> entries(const io::Path& directory) {
  std::vector<io::Path> found;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error))
    found.push_back(entry->path());
  std::sort(found.begin(), found.end());
  return found;
}

client_policy::PowerSupply supply_of(const io::Path& directory) {
  client_policy::PowerSupply supply{directory.filename(), line_of(directory / "type")};
  supply.status = line_of(directory / "status");
  supply.of_device = line_of(directory / "scope") == "Device";
  supply.present = line_of(directory / "present") != "0";
  supply.percent = number_of(directory / "capacity");
  if (const auto online = number_of(directory / "online")) supply.online = *online > 0;
  return supply;
}

// Thousandths of a degree.
std::optional<double> degrees_of(const io::Path& path) {
  const auto thousandths = number_of(path);
  return thousandths ? std::optional(*thousandths / 1000) : std::nullopt;
}

// A chip is as hot as its hottest part. Where AMD tells the die's own temperature beside one with an offset
// for fans, that counts alone.
std::optional<double> chip_degrees(const io::Path& chip) {
  std::optional<double> hottest;
  std::optional<double> die;
  for (int i = 1; i <= inputs_max; ++i) {
    const std::string input = "temp" + std::to_string(i);
    const auto degrees = degrees_of(chip / (input + "_input"));
    if (!degrees || line_of(chip / (input + "_fault")) == "1") continue;
    if (line_of(chip / (input + "_label")) == "Tdie") die = degrees;
    if (!hottest || *degrees > *hottest) hottest = degrees;
  }
  return die ? die : hottest;
}

bool is_processor(const std::string& chip) {
  return std::find(processor_chips.begin(), processor_chips.end(), chip) != processor_chips.end();
}

using Sensors = std::vector<std::pair<std::string, double>>;  // name, reading

// The second of a name is "k10temp 2".
void add_sensors(Observation::Kind kind, const Sensors& sensors, std::vector<Observation>& found) {
  std::map<std::string, int> named;
  for (std::size_t i = 0; i < std::min(sensors.size(), sensors_max); ++i) {
    const auto& [name, reading] = sensors[i];
    const int number = ++named[name];
    found.push_back(
        {kind, number == 1 ? name : name + " " + std::to_string(number), Duration{0}, {}, reading});
  }
}

// The pump of a liquid cooler turns at a speed of its own, "AIO Pump".
bool is_pump(std::string label) {
  std::transform(label.begin(), label.end(), label.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return label.find("pump") != std::string::npos;
}

void observe_temperatures(const io::Path& sys, std::vector<Observation>& found) {
  Sensors sensors;
  for (const io::Path& zone : entries(sys / "class/thermal")) {
    if (!zone.filename().string().starts_with("thermal_zone")) continue;
    const std::string type = line_of(zone / "type");
    if (const auto degrees = degrees_of(zone / "temp"))
      sensors.emplace_back(type.empty() ? zone.filename().string() : type, *degrees);
  }
  for (const io::Path& chip : entries(sys / "class/hwmon"))
    if (const std::string name = line_of(chip / "name"); is_processor(name))
      if (const auto degrees = chip_degrees(chip)) sensors.emplace_back(name, *degrees);
  add_sensors(Observation::Kind::temperature, sensors, found);
}

}  // namespace

std::vector<Observation> observe_power(const io::Path& sys) {
  std::vector<Observation> found;
  std::vector<client_policy::PowerSupply> supplies;
  for (const io::Path& supply : entries(sys / "class/power_supply")) supplies.push_back(supply_of(supply));
  for (const auto& battery : client_policy::batteries_of(supplies))
    found.push_back({Observation::Kind::battery,
                     battery.name,
                     Duration{0},
                     {},
                     battery.used ? 1.0 : 0.0,
                     battery.words,
                     battery.percent});
  if (line_of(sys / "firmware/acpi/platform_profile") == "low-power")
    found.push_back({Observation::Kind::saver, "platform profile low-power", Duration{0}, {}, 0});
  observe_temperatures(sys, found);
  return found;
}

std::vector<Observation> observe_fans(const io::Path& sys) {
  Sensors sensors;
  for (const io::Path& chip : entries(sys / "class/hwmon")) {
    const std::string name = line_of(chip / "name");
    for (int i = 1; i <= fans_max && sensors.size() < sensors_max; ++i) {
      const std::string fan = "fan" + std::to_string(i);
      const std::string label = line_of(chip / (fan + "_label"));
      if (is_pump(label)) continue;
      const auto rpm = number_of(chip / (fan + "_input"));
      if (!rpm || line_of(chip / (fan + "_fault")) == "1") continue;
      sensors.emplace_back(
          agent::printable(name + " " + (label.empty() ? "fan " + std::to_string(i) : label)), *rpm);
    }
  }
  std::vector<Observation> found;
  add_sensors(Observation::Kind::fan, sensors, found);
  return found;
}

}  // namespace gleaner::platform
