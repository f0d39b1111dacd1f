// Battery and temperature as /sys shows them (the kernel's Documentation/ABI/testing/sysfs-class-power and
// -thermal).
#include <fstream>

#include "client/platform/activity_monitor.h"

namespace gleaner::platform {
namespace {

constexpr double degrees_max = 150;  // what is beyond is a sensor that is not there

std::string word_of(const io::Path& path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
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

}  // namespace

std::vector<Observation> observe_power(const io::Path& sys) {
  std::vector<Observation> found;
  for (const io::Path& supply : entries(sys / "class/power_supply")) {
    // A mouse has a battery too; its scope says so.
    if (word_of(supply / "type") != "Battery" || word_of(supply / "scope") == "Device") continue;
    const bool discharging = word_of(supply / "status") == "Discharging";
    found.push_back(
        {Observation::Kind::battery, supply.filename(), Duration{0}, {}, discharging ? 1.0 : 0.0});
  }
  std::optional<Observation> hottest;
  for (const io::Path& zone : entries(sys / "class/thermal")) {
    if (!zone.filename().string().starts_with("thermal_zone")) continue;
    double thousandths = 0;
    std::ifstream file(zone / "temp");
    if (!(file >> thousandths) || thousandths / 1000 > degrees_max) continue;
    if (hottest && hottest->value >= thousandths / 1000) continue;
    const std::string type = word_of(zone / "type");
    hottest = Observation{Observation::Kind::temperature,
                          type.empty() ? zone.filename().string() : type,
                          Duration{0},
                          {},
                          thousandths / 1000};
  }
  if (hottest) found.push_back(*hottest);
  return found;
}

}  // namespace gleaner::platform
