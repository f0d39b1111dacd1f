// What a manager may take, and that none is started where nothing confines it. Confinement itself is tested
// with the real helper (tests/functional).
#include "server/service/core/manager_sandbox.h"

#include <filesystem>

#include "server/service/work/life_cycle.h"
#include "tests/unit/service/log_lines.h"
#include "tests/unit/service/world.h"

using namespace gleaner;
using namespace gleaner::service::testing;

namespace {

constexpr ProblemId only{1};

// A project with room for one problem's manager, which is a program that waits.
struct Place {
  gleaner::testing::TemporaryDirectory temporary;
  service::ProjectDirectory directory{temporary.path()};
  service::Configuration configuration;
  io::Path work = directory.problem(only) / "work";
  std::unique_ptr<io::Process> process;

  Place() {
    configuration.manager_sandbox = service::manager_sandbox_off;
    configuration.manager_disk_megabytes = 1;
    configuration.disk_reserve_megabytes = 0;
    must(io::real_files().make_directories(work));
    io::ProcessSpec spec;
    spec.arguments = {"/bin/sleep", "60"};
    process = must(io::real_processes().start(spec));
  }
  [[nodiscard]] std::string excess() const {
    return service::ManagerSandbox(directory, configuration, io::real_processes()).excess(only, *process);
  }
  void write(const std::string& name, std::size_t bytes) const {
    must(io::real_files().write(work / name, std::string(bytes, 'x'), io::Mode::normal));
  }
};

}  // namespace

TEST_CASE("a manager is ended for what it writes beyond its disk space, with the setting's name") {
  const Place place;
  CHECK(place.excess().empty());
  place.write("most of it", (1 << 20) - 8192);
  CHECK(place.excess().empty());
  place.write("too much", 16384);
  CHECK(says(place.excess(), "wrote more than the 1 MiB"));
  CHECK(says(place.excess(), "disk_megabytes in server.toml"));
  std::filesystem::remove(place.work / "too much");
  CHECK(place.excess().empty());
}

TEST_CASE("a manager is ended for the memory it takes") {
  Place place;
  place.configuration.manager_memory_megabytes = 0;
  CHECK(says(place.excess(), "memory_megabytes in server.toml"));
}

TEST_CASE("a manager is ended for large files when the server's disk is nearly full") {
  Place place;
  place.configuration.manager_disk_megabytes = 1000;
  place.configuration.disk_reserve_megabytes = std::int64_t{1} << 30;
  place.write("small", 1 << 20);
  CHECK(place.excess().empty());  // it is not what fills the disk
  place.write("large", 65 << 20);
  CHECK(says(place.excess(), "the server's disk is nearly full"));
}

TEST_CASE("without confinement, where that is accepted, the bundle's program is started as it is") {
  const Place place;
  const service::ManagerSandbox sandbox(place.directory, place.configuration, io::real_processes());
  CHECK(sandbox.refusal().empty());
  CHECK(says(sandbox.describe(), "not confined, as server.toml accepts"));
  const auto spec = must(sandbox.confine({only, std::string(64, 'a'), "bin/manager", "{}", {}}));
  CHECK(spec.arguments ==
        std::vector<std::string>{(place.directory.bundle(std::string(64, 'a')) / "bin/manager").string()});
  CHECK(spec.working_directory == place.work);
  CHECK(spec.environment.at("HOME") == place.work.string());
  CHECK(spec.environment.at("PATH") == "/usr/bin:/bin");  // and nothing of the server's own
  CHECK(!spec.environment.contains("PWD"));
  CHECK(spec.limits.file_bytes == std::int64_t{1} << 20);
}

TEST_CASE("where the helper is missing no manager is started, and problems are refused with the way out") {
  const LogLines log;
  World world([](service::Configuration& c) { c.manager_sandbox = "on"; });
  const auto& sandbox = world.service().kernel().managers().sandbox();
  if (sandbox.refusal().empty()) return;  // it is installed beside this test
  CHECK(says(sandbox.refusal(), "managers cannot be confined on this computer"));
  CHECK(says(sandbox.refusal(), service::manager_sandbox_off));
  CHECK(sandbox.describe() == sandbox.refusal());
  CHECK(log.has("warning: " + sandbox.refusal()));
  world.add_application();
  protocol::AddProblem request;
  request.application = "numbers";
  request.parameters = R"({"count": 5})";
  const auto refused = world.try_add_problem(request);
  REQUIRE(!refused.ok());
  CHECK(refused.error().kind == ErrorKind::unavailable);
  CHECK(says(refused.error().message, "managers cannot be confined"));
  world.settle();
  CHECK(!io::real_files().exists(world.project().problem(only)));
}

TEST_CASE("a disk that was in the way when confinement was tried only makes managers wait") {
  Place place;
  place.configuration.manager_sandbox = "on";
  const io::Path check = place.directory.problem(ProblemId{1}).parent_path() / "check";
  must(io::real_files().write(check, "a file where a directory is to be", io::Mode::normal));
  const service::ManagerSandbox sandbox(place.directory, place.configuration, io::real_processes());
  service::ManagerSetup setup;
  setup.problem = only;
  const auto refused = sandbox.confine(setup);
  REQUIRE_FALSE(refused.ok());
  if (says(refused.error().message, "gleaner-sandbox is missing")) return;  // only this program was built
  CHECK(refused.error().kind == ErrorKind::io);
  CHECK_FALSE(sandbox.refusal().empty());
  std::filesystem::remove(check);
  const auto again = sandbox.confine(setup);
  // Where this system confines nothing at all, it says so now.
  CHECK((again.ok() || again.error().kind == ErrorKind::unavailable));
  CHECK(sandbox.refusal().empty() == again.ok());
}
