// Segments that wait together are judged together, each by its own word; who waits for a manager that is busy
// holds up nobody else.
#include "server/service/work/validations.h"

#include <future>

#include "tests/unit/service/world.h"

using namespace gleaner;
using namespace gleaner::service::testing;
using service::Validations;

namespace {

service::ManagerSetup setup_of(World& world, ProblemId problem) {
  return world.look<service::ManagerSetup>([problem](service::Transaction& tx) {
    const auto& found = tx.model.problems.at(problem);
    const auto& application = tx.model.applications.at(found.row.application);
    return service::ManagerSetup{problem, application.row.archive, application.manifest.manager,
                                 found.row.parameters, found.row.inputs};
  });
}

std::unique_ptr<Validations> validations_of(service::Kernel& kernel) {
  return std::make_unique<Validations>(
      kernel.managers(), [&kernel](std::function<void()> job) { kernel.on_pool(std::move(job)); });
}

}  // namespace

TEST_CASE("of many segments each gets its own verdict, whatever problems they are of") {
  std::unique_ptr<Validations> validations;  // outlives the pool's threads, which end with the world
  World world;
  world.add_application();
  const service::ManagerSetup setups[] = {setup_of(world, world.add_problem(3)),
                                          setup_of(world, world.add_problem(3))};
  validations = validations_of(world.service().kernel());
  constexpr int count = 300;  // several rounds
  std::vector<std::promise<Result<contract::Validation>>> answers(count);
  for (int i = 0; i < count; ++i)
    validations->ask({setups[i % 2],
                      0,
                      {0, 1},
                      std::make_shared<const Bytes>(i % 7 == 0 ? "wrong" : "right"),
                      [&answers, i](Result<contract::Validation> answer) {
                        answers[static_cast<std::size_t>(i)].set_value(std::move(answer));
                      }});
  for (int i = 0; i < count; ++i) {
    const auto answer = must(answers[static_cast<std::size_t>(i)].get_future().get());
    CHECK((answer.verdict == contract::Verdict::invalid) == (i % 7 == 0));
  }
}

TEST_CASE("a busy manager holds up one thread, not the others' commits") {
  std::unique_ptr<Validations> validations;  // outlives the pool's threads, which end with the world
  World world;
  world.add_application();
  const auto busy = setup_of(world, world.add_problem(3));
  const TestHost host = world.add_host();
  const ProblemId other = world.add_problem(3);
  std::promise<void> begun, go_on;
  auto& kernel = world.service().kernel();
  kernel.start_job([&] {
    (void)kernel.managers().with(busy, [&](contract::ManagerSession&) -> Status {
      begun.set_value();
      go_on.get_future().wait();
      return {};
    });
  });
  begun.get_future().wait();
  validations = validations_of(kernel);
  std::atomic<int> answered{0};
  for (int i = 0; i < 50; ++i)
    validations->ask(
        {busy, 0, {0, 1}, std::make_shared<const Bytes>("right"), [&](Result<contract::Validation>) {
           ++answered;
         }});
  // With a thread for each that waits none of the pool's would be left.
  for (const auto& grant : world.grants(host.id)) {
    if (grant.problem == other) world.finish(grant);
  }
  CHECK(answered == 0);
  go_on.set_value();
  world.settle();
  for (int i = 0; i < 10'000 && answered < 50; ++i) std::this_thread::sleep_for(std::chrono::milliseconds{1});
  CHECK(answered == 50);
  world.settle();
}
