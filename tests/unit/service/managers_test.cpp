// The managers of problems: one process each, started when it is needed, one caller at a time.
#include "server/service/core/managers.h"

#include <filesystem>
#include <thread>

#include "server/service/work/life_cycle.h"
#include "tests/unit/service/world.h"

using namespace gleaner;
using namespace gleaner::service::testing;

namespace {

service::ManagerSetup setup_of(World& world, ProblemId problem) {
  return world.look<service::ManagerSetup>([problem](service::Transaction& tx) {
    return service::manager_setup(tx.model, tx.model.problems.at(problem));
  });
}

}  // namespace

TEST_CASE("a manager's directories are written on first use and removed when it is asked for") {
  World world;
  world.add_application();
  const ProblemId problem = world.add_problem(5);
  auto& managers = world.service().kernel().managers();
  const io::Path base = world.project().problem(problem);
  CHECK(says(must(io::real_files().read(base / "problem" / "parameters.json", 1000)), "\"count\": 5"));
  managers.end(problem, service::Managers::Keep::yes);
  CHECK(io::real_files().exists(base / "work"));
  managers.end(problem, service::Managers::Keep::no);
  CHECK(!io::real_files().exists(base));
  must(managers.with(setup_of(world, problem), [](contract::ManagerSession& session) -> Status {
    TRY(session.check());
    TRY_ASSIGN(const auto plan, session.plan(0));
    CHECK(plan.items == 5);
    return {};
  }));
  CHECK(io::real_files().exists(base / "work"));
}

TEST_CASE("callers of one manager wait for each other") {
  World world;
  world.add_application();
  const auto setup = setup_of(world, world.add_problem(5));
  auto& managers = world.service().kernel().managers();
  std::atomic<int> inside{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      (void)managers.with(setup, [&](contract::ManagerSession&) -> Status {
        CHECK(++inside == 1);
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
        --inside;
        return {};
      });
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(inside == 0);
}

TEST_CASE("a manager that died is started again for the next question") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(30);
  const auto grant = world.grants(host.id).front();
  world.service().kernel().managers().end(problem, service::Managers::Keep::yes);
  world.finish(grant);
  CHECK(world.show(problem).accepted == grant.range.size());
}

TEST_CASE("an input is linked into the problem's directory under its name") {
  World world;
  world.add_application();
  protocol::AddProblem request;
  request.application = "numbers";
  request.parameters = R"({"count": 3})";
  request.inputs = {{"the input", must(world.service().kernel().blobs().put("some data")), 0, {}}};
  const ProblemId problem = must(world.try_add_problem(request)).id;
  const io::Path link = world.project().problem(problem) / "problem" / "inputs" / "the input";
  CHECK(must(io::real_files().read(link, 100)) == "some data");
  const TestHost host = world.add_host();
  const auto grant = world.grants(host.id).front();
  REQUIRE(grant.inputs.size() == 1);
  CHECK(grant.inputs[0].bytes == 9);
}

TEST_CASE("what a manager names is read in its directory only, wherever links lead") {
  World world;
  world.add_application();
  const ProblemId problem = world.add_problem(5), other = world.add_problem(5);
  auto& managers = world.service().kernel().managers();
  const io::Path work = world.project().problem(problem) / "work";
  io::Files& files = io::real_files();
  must(files.write(work / "mine", "mine", io::Mode::normal));
  must(files.write(world.project().problem(other) / "work" / "theirs", "theirs", io::Mode::normal));
  std::filesystem::create_symlink("/etc/passwd", work / "file-link");
  std::filesystem::create_directory_symlink(world.project().problem(other) / "work", work / "directory-link");
  CHECK(must(files.read(must(managers.open(problem, work / "mine")).path(), 100)) == "mine");
  for (const io::Path& outside : {work / "file-link", work / "directory-link" / "theirs",
                                  work / ".." / ".." / "2", work / "not-there", io::Path("/etc/passwd")}) {
    INFO(outside.string());
    const auto refused = managers.open(problem, outside);
    REQUIRE(!refused.ok());
    CHECK(refused.error().kind == ErrorKind::unavailable);
  }
}

TEST_CASE("a preview is a process of its own, and what it was shown is gone after it") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(30);
  const auto grant = world.grants(host.id).front();
  const auto request = world.uploaded(World::results(grant.unit, {grant.range.begin, grant.range.begin + 1}));
  (void)must(world.commit(host.id, request));
  auto& kernel = world.service().kernel();
  const auto piece = std::filesystem::absolute(kernel.blobs().path(request.digest));
  const auto shown = must(kernel.managers().preview(setup_of(world, problem), 0, {{{0, 1}, 0, piece}}, {}));
  REQUIRE(shown.size() == 1);
  const io::Path base = world.project().problem(problem);
  CHECK(!io::real_files().exists(base / "problem" / "preview"));
  CHECK(must(io::real_files().read(base / "work" / "started", 100)) == "started\nstarted\n");
  CHECK(kernel.blobs().verify(request.digest).ok());
  world.finish(world.grants(host.id).front());  // the session goes on
  CHECK(must(io::real_files().read(base / "work" / "started", 100)) == "started\nstarted\n");
}

TEST_CASE("a piece that is not there is an error that names both places") {
  World world;
  world.add_application();
  const auto setup = setup_of(world, world.add_problem(5));
  const auto combined = world.service().kernel().managers().combine(
      setup, 0, {{{0, 1}, 0, world.directory() / "no such segment"}}, {});
  REQUIRE(!combined.ok());
  CHECK(combined.error().kind == ErrorKind::io);
  CHECK(says(combined.error().message, "no such segment"));
  CHECK(says(combined.error().message, "combine"));
}
