#include "tools/loadgen/process_usage.h"

#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

namespace gleaner::loadgen {

Result<ProcessUsage> usage_of(pid_t process) {
  const std::string directory = "/proc/" + std::to_string(process) + "/";
  std::ifstream stat(directory + "stat");
  std::string line;
  std::getline(stat, line);
  const std::size_t name_end = line.rfind(')');  // names may hold anything
  if (name_end == std::string::npos)
    return Error{ErrorKind::not_found, "there is no process " + std::to_string(process) + " to look at"};
  std::istringstream fields(line.substr(name_end + 1));
  std::string skipped;
  for (int i = 3; i < 14; ++i) fields >> skipped;  // proc(5): utime is field 14
  std::int64_t user = 0;
  std::int64_t system = 0;
  fields >> user >> system;
  std::int64_t pages = 0;
  std::ifstream(directory + "statm") >> skipped >> pages;
  const std::int64_t ticks = ::sysconf(_SC_CLK_TCK);
  return ProcessUsage{Duration((user + system) * 1'000'000 / ticks), pages * ::sysconf(_SC_PAGESIZE)};
}

}  // namespace gleaner::loadgen
