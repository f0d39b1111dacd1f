#include <sched.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <set>

#include "client/platform/processors.h"

namespace gleaner::platform {
namespace {

constexpr int packages_apart = 1 << 16;  // core ids of different packages are alike

std::optional<double> number_in(const io::Path& path) {
  std::ifstream file(path);
  double number = 0;
  return file >> number ? std::optional(number) : std::nullopt;
}

// "0-3,8" of a list of processors.
std::set<int> list_in(const io::Path& path) {
  std::ifstream file(path);
  std::set<int> numbers;
  int first = 0;
  while (file >> first) {
    int last = first;
    if (file.peek() == '-') file.ignore() >> last;
    for (int number = first; number <= last && number < CPU_SETSIZE; ++number) numbers.insert(number);
    if (file.peek() == ',') file.ignore();
  }
  return numbers;
}

std::vector<int> affinity() {
  cpu_set_t set;
  std::vector<int> numbers;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return numbers;
  for (int number = 0; number < CPU_SETSIZE; ++number)
    if (CPU_ISSET(number, &set)) numbers.push_back(number);
  return numbers;
}

bool set_affinity(const std::vector<int>& numbers) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int number : numbers) CPU_SET(number, &set);
  return ::sched_setaffinity(0, sizeof set, &set) == 0;
}

}  // namespace

std::vector<client_policy::Processor> processors_below(const io::Path& sys) {
  const io::Path devices = sys / "devices";
  // Intel's hybrid processors name their kinds; ARM tells capacities, and AMD what each core can reach.
  const std::set<int> fast = list_in(devices / "cpu_core/cpus"), frugal = list_in(devices / "cpu_atom/cpus");
  std::vector<client_policy::Processor> all;
  for (const int number : list_in(devices / "system/cpu/online")) {
    const io::Path place = devices / "system/cpu" / ("cpu" + std::to_string(number));
    client_policy::Processor one{number};
    const auto core = number_in(place / "topology/core_id");
    const auto package = number_in(place / "topology/physical_package_id");
    if (core && *core >= 0)
      one.core =
          static_cast<int>(*core) + packages_apart * static_cast<int>(std::max(0.0, package.value_or(0)));
    if (!fast.empty() && !frugal.empty())
      one.capacity = fast.contains(number) ? 2 : 1;
    else if (const auto capacity = number_in(place / "cpu_capacity"))
      one.capacity = *capacity;
    else
      one.capacity = number_in(place / "acpi_cppc/highest_perf").value_or(0);
    all.push_back(one);
  }
  return all;
}

OnProcessors::OnProcessors(const std::vector<int>& numbers) {
  if (numbers.empty()) return;
  const std::vector<int> may = affinity();
  std::vector<int> both;
  std::copy_if(may.begin(), may.end(), std::back_inserter(both), [&numbers](int number) {
    return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
  });
  if (!both.empty() && set_affinity(both)) before_ = may;
}

OnProcessors::~OnProcessors() {
  if (!before_.empty()) (void)set_affinity(before_);
}

}  // namespace gleaner::platform
