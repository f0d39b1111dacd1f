#include "client/platform/proc_files.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

namespace gleaner::platform {

std::optional<ProcessorTicks> processor_ticks(const io::Path& proc) {
  std::ifstream file(proc / "stat");
  std::string word;
  if (!(file >> word) || word != "cpu") return std::nullopt;
  ProcessorTicks ticks;
  if (!(file >> ticks.user >> ticks.nice >> ticks.system >> ticks.idle >> ticks.waiting >> ticks.interrupts >>
        ticks.soft >> ticks.stolen))
    return std::nullopt;
  return ticks;
}

std::optional<double> available_memory(const io::Path& proc) {
  std::ifstream file(proc / "meminfo");
  double total = 0, available = -1;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    double kilobytes = 0;
    if (!(words >> name >> kilobytes)) continue;
    if (name == "MemTotal:") total = kilobytes;
    if (name == "MemAvailable:") available = kilobytes;
  }
  if (total <= 0 || available < 0) return std::nullopt;
  return std::clamp(available / total, 0.0, 1.0);
}

}  // namespace gleaner::platform
