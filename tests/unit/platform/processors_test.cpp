#include "client/platform/processors.h"

#include <sched.h>

#include "client/platform/sandbox.h"
#include "tests/catch.h"
#include "tests/unit/io/temporary_directory.h"

namespace gleaner::platform {
namespace {

using client_policy::CoreChoice;
using Numbers = std::vector<int>;

struct Sys {
  testing::TemporaryDirectory directory;
  void put(const std::string& name, const std::string& text) const {
    const io::Path path = directory.path() / "devices" / name;
    REQUIRE(io::real_files().make_directories(path.parent_path()).ok());
    REQUIRE(io::real_files().write(path, text + "\n", io::Mode::normal).ok());
  }
  void put_core(int number, int package, int core) const {
    const std::string place = "system/cpu/cpu" + std::to_string(number);
    put(place + "/topology/physical_package_id", std::to_string(package));
    put(place + "/topology/core_id", std::to_string(core));
  }
  [[nodiscard]] Numbers chosen(CoreChoice choice) const {
    return client_policy::choose(choice, processors_below(directory.path())).numbers;
  }
};

TEST_CASE("Two packages with two threads a core") {
  const Sys sys;
  sys.put("system/cpu/online", "0-7");
  for (int number = 0; number < 8; ++number) sys.put_core(number, number / 2 % 2, number % 2);
  CHECK(sys.chosen(CoreChoice::physical) == Numbers{0, 1, 2, 3});
  CHECK(sys.chosen(CoreChoice::performance).empty());
}

TEST_CASE("Hybrid processors of three makers, and one that is offline") {
  const Sys intel;
  intel.put("system/cpu/online", "0-3,5");
  intel.put("cpu_core/cpus", "0-1");
  intel.put("cpu_atom/cpus", "2-5");
  CHECK(intel.chosen(CoreChoice::performance) == Numbers{0, 1});
  CHECK(intel.chosen(CoreChoice::efficiency) == Numbers{2, 3, 5});
  for (const char* const file : {"cpu_capacity", "acpi_cppc/highest_perf"}) {
    const Sys sys;
    sys.put("system/cpu/online", "0-1");
    sys.put(std::string("system/cpu/cpu0/") + file, "400");
    sys.put(std::string("system/cpu/cpu1/") + file, "1024");
    CHECK(sys.chosen(CoreChoice::efficiency) == Numbers{0});
  }
  CHECK(processors_below("/nowhere").empty());
}

TEST_CASE("What starts meanwhile runs there and nowhere else, and the thread itself is as before") {
  cpu_set_t before, after;
  REQUIRE(::sched_getaffinity(0, sizeof before, &before) == 0);
  int last = CPU_SETSIZE - 1;
  while (!CPU_ISSET(last, &before)) --last;
  {
    const OnProcessors here({last, CPU_SETSIZE - 1});
    const auto child =
        io::real_processes().start({{"/bin/grep", "Cpus_allowed_list", "/proc/self/status"}, {}, {}, {}});
    REQUIRE(child.ok());
    Bytes said;
    while ((*child)->read_some(said, 1000) != io::ReadKind::closed) ::sched_yield();
    CHECK(said == "Cpus_allowed_list:\t" + std::to_string(last) + "\n");
  }
  REQUIRE(::sched_getaffinity(0, sizeof after, &after) == 0);
  CHECK(CPU_EQUAL(&before, &after));
  const OnProcessors nowhere({CPU_SETSIZE - 1});
  REQUIRE(::sched_getaffinity(0, sizeof after, &after) == 0);
  CHECK(CPU_EQUAL(&before, &after));
}

}  // namespace
}  // namespace gleaner::platform
