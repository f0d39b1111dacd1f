// The managers of problems: one process each, started when it is needed, one caller at a time.
#include "server/service/managers.h"

#include <thread>

#include "server/service/life_cycle.h"
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
