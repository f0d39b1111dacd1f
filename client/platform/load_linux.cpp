// What other programs take: processor time by /proc/stat, where kernels count as "nice" and so can be told
// apart (proc(5)); waiting for memory by /proc/pressure/memory (the kernel's Documentation/accounting/psi),
// and where that is off by /proc/meminfo; programs that the owner named by /proc/PID/comm.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <sstream>
#include <utility>

#include "client/platform/activity_monitor.h"
#include "client/platform/proc_files.h"
#include "shared/io/process_tree.h"

namespace gleaner::platform {
namespace {

constexpr std::size_t name_bytes_max = 15;  // of a process's name

// "full avg10=0.12 avg60=..."; nothing if there is no such line.
std::optional<double> full_average(std::istream& pressure) {
  for (std::string line; std::getline(pressure, line);) {
    const auto at = line.find("avg10=");
    if (!line.starts_with("full ") || at == std::string::npos) continue;
    std::istringstream text(line.substr(at + 6));
    double percent = 0;
    if (text >> percent) return percent;
  }
  return std::nullopt;
}

std::optional<Observation> observe_available(const io::Path& proc) {
  const std::optional<double> part = available_memory(proc);
  if (!part) return std::nullopt;
  return Observation{Observation::Kind::available,
                     "memory",
                     Duration{0},
                     {},
                     *part,
                     "this system does not tell what waits for it"};
}

}  // namespace

Duration own_use() {
  rusage use{};
  Duration all{0};
  if (::getrusage(RUSAGE_SELF, &use) == 0)
    all += std::chrono::seconds{use.ru_utime.tv_sec + use.ru_stime.tv_sec} +
           std::chrono::microseconds{use.ru_utime.tv_usec + use.ru_stime.tv_usec};
  // What has ended counts with those that waited for it, here.
  if (::getrusage(RUSAGE_CHILDREN, &use) == 0)
    all += std::chrono::seconds{use.ru_stime.tv_sec} + std::chrono::microseconds{use.ru_stime.tv_usec};
  return all + io::ProcessTree().system_time_below(io::TreeHandle(::getpid()));
}

std::optional<Observation> LoadMeter::observe(const io::Path& proc, Duration own) {
  const std::optional<ProcessorTicks> ticks = processor_ticks(proc);
  if (!ticks) return std::nullopt;
  Ticks now;
  now.others = ticks->busy() - ticks->nice;
  now.all = ticks->all();
  now.own = own;
  const std::optional<Ticks> before = std::exchange(before_, now);
  if (!before || now.all <= before->all || now.others < before->others) return std::nullopt;
  static const double tick_seconds = 1.0 / static_cast<double>(std::max(1L, ::sysconf(_SC_CLK_TCK)));
  const double own_ticks = std::max(0.0, to_seconds(now.own - before->own)) / tick_seconds;
  const double part = (static_cast<double>(now.others - before->others) - own_ticks) /
                      static_cast<double>(now.all - before->all);
  return Observation{Observation::Kind::load, "other programs", Duration{0}, {}, std::clamp(part, 0.0, 1.0)};
}

std::optional<Observation> observe_memory(const io::Path& proc) {
  std::ifstream pressure(proc / "pressure/memory");
  const auto percent = full_average(pressure);
  if (!percent) return observe_available(proc);
  return Observation{Observation::Kind::memory, "waiting for memory", Duration{0}, {}, *percent};
}

std::vector<Observation> observe_programs(const io::Path& proc, const std::vector<std::string>& names) {
  std::vector<Observation> found;
  if (names.empty()) return found;
  std::vector<std::string> running;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(proc, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string number = entry->path().filename();
    if (!std::isdigit(static_cast<unsigned char>(number[0]))) continue;
    std::ifstream file(entry->path() / "comm");
    std::string name;
    if (std::getline(file, name)) running.push_back(name);
  }
  for (const std::string& name : names)
    if (std::find(running.begin(), running.end(), name.substr(0, name_bytes_max)) != running.end())
      found.push_back({Observation::Kind::program, name, Duration{0}, {}, 0});
  return found;
}

}  // namespace gleaner::platform
