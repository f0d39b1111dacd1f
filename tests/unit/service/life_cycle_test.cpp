// From planning to the result: stages follow each other, and a job's result is never lost, whatever the store
// does meanwhile.
#include <thread>

#include "shared/io/files.h"
#include "shared/protocol/codec.h"
#include "tests/unit/service/log_lines.h"
#include "tests/unit/service/world.h"

using namespace gleaner;
using namespace gleaner::service::testing;
using protocol::ProblemState;

namespace {

// Computes whatever there is until the problem is over.
void compute(World& world, HostId host, ProblemId problem) {
  for (int round = 0; round < 1000; ++round) {
    world.settle();
    const auto state = world.show(problem).state;
    if (state != ProblemState::running) return;
    const auto reply = must(world.work(host, world.work_request()));
    for (const auto& statement : reply.grants)
      world.finish(must(protocol::decode<protocol::Grant>(statement.payload)));
  }
  FAIL("it is never over");
}

std::string result_text(World& world, ProblemId problem) {
  const auto results = world.show(problem).results;
  REQUIRE(results.size() == 1);
  return must(world.service().kernel().blobs().read(results[0].digest, 10'000));
}

// How often the last commit of a problem calls the store until it is acknowledged.
int calls_of_last_commit() {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  (void)world.add_problem(1);
  const auto grant = world.grants(host.id).front();
  for (int n = 1; n < 100; ++n) {
    world.store().fail_at(n);
    const auto answer = world.commit(host.id, World::results(grant.unit, grant.range, true));
    world.store().heal();
    world.settle();
    if (answer.ok()) return n - 1;
  }
  return 0;
}

}  // namespace

TEST_CASE("a problem of two stages is computed, combined and finished") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(5, ", \"stages\": 2");
  CHECK(world.show(problem).stage == 0);
  CHECK(world.show(problem).stage_name == "numbers");
  compute(world, host.id, problem);
  const auto info = world.show(problem);
  CHECK(info.state == ProblemState::finished);
  CHECK(info.stage == 1);
  CHECK(info.accepted == 5);
  CHECK(info.eta_seconds == 0);
  CHECK(!result_text(world, problem).empty());
  REQUIRE(info.shares.size() == 1);
  CHECK(info.shares[0].items == 5);
  const std::string before = world.memory();
  world.restart();
  CHECK(world.memory() == before);
}

TEST_CASE("a problem without items to compute is finished at once") {
  World world;
  world.add_application();
  const ProblemId problem = world.add_problem(5, ", \"stages\": 0");
  CHECK(world.show(problem).state == ProblemState::finished);
}

TEST_CASE("a manager that cannot combine fails the problem with its words") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(2, ", \"x\": \"no-combine\"");
  compute(world, host.id, problem);
  CHECK(world.show(problem).state == ProblemState::failed);
  CHECK(says(world.show(problem).message, "combining failed"));
  CHECK(says(world.show(problem).message, "do not fit together"));
  (void)world.memory();
}

TEST_CASE(
    "a manager that is killed while it combines is started again, later each time, and the problem says so") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(2, ", \"x\": \"killed\"");
  compute(world, host.id, problem);
  CHECK(world.show(problem).state == ProblemState::combining);
  CHECK(world.show(problem).message.empty());
  CHECK(
      says(world.show(problem).waits, "combining failed: the application's manager was killed by signal 9"));
  for (int second = 1; second <= 4; ++second) world.tick();
  CHECK(world.show(problem).state == ProblemState::combining);
  world.tick();  // in vain
  for (int second = 1; second <= 9; ++second) world.tick();
  CHECK(world.show(problem).state == ProblemState::combining);
  world.tick();
  CHECK(world.show(problem).state == ProblemState::finished);
  CHECK(world.show(problem).message.empty());
  CHECK(world.show(problem).waits.empty());
  CHECK(!result_text(world, problem).empty());
  (void)world.memory();
}

TEST_CASE("a problem whose manager crashes over a result says so until one is taken") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(2, ", \"x\": \"crashes\"");
  const auto grant = world.grants(host.id).front();
  const auto refused = world.commit(host.id, World::results(grant.unit, grant.range, true));
  REQUIRE(!refused.ok());
  CHECK(refused.error().kind == ErrorKind::unavailable);
  world.settle();
  CHECK(world.show(problem).message.empty());
  CHECK(says(world.show(problem).waits,
             "a result cannot be checked: the application's manager was killed by signal 6"));
  world.finish(grant);
  world.settle();
  CHECK(world.show(problem).message.empty());
  CHECK(world.show(problem).waits.find("a result cannot") == std::string::npos);
  (void)world.memory();
}

TEST_CASE("what a job of the pool came to is stored later if it cannot be stored now") {
  const int own = calls_of_last_commit();
  bool reached = true;
  for (int n = 1; reached && n < 40; ++n) {
    INFO("call " << n << " after the last result fails");
    World world;
    world.add_application();
    const TestHost host = world.add_host();
    const ProblemId problem = world.add_problem(1);
    const auto grant = world.grants(host.id).front();
    const auto commits = world.store().commits();
    world.store().fail_at(own + n);
    world.finish(grant);
    // Where it belongs, its results, and what the manager made of them: three transactions.
    while (!world.store().failed() && world.store().commits() < commits + 3)
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
    reached = world.store().failed();
    world.store().heal();
    world.tick();  // what could not be stored is tried again
    CHECK(world.show(problem).state == ProblemState::finished);
    CHECK(world.show(problem).results.size() == 1);
    (void)world.memory();
  }
}

TEST_CASE("a store that stays broken keeps the job's result until it is well again") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(1);
  const auto grant = world.grants(host.id).front();
  world.finish(grant);
  world.settle();
  CHECK(world.show(problem).state == ProblemState::finished);

  const ProblemId second = world.add_problem(1);
  const auto last = world.grants(host.id).front();
  (void)must(world.change(second, service::Problems::Action::pause));
  world.finish(last);
  CHECK(world.show(second).state == ProblemState::paused);
  (void)must(world.change(second, service::Problems::Action::resume));
  world.store().fail_at(1, 1'000'000);
  for (int i = 0; i < 3; ++i) {
    world.service().ticker().tick();
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
  }
  world.store().heal();
  world.service().ticker().tick();
  world.settle();
  CHECK(world.show(second).state == ProblemState::finished);
}

TEST_CASE("a restart begins again what was under way") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(2);
  const auto grants = world.grants(host.id, 2);
  for (const auto& grant : grants) world.finish(grant);
  world.restart();  // perhaps in the middle of combining
  compute(world, world.add_host("another").id, problem);
  CHECK(world.show(problem).state == ProblemState::finished);
  CHECK(world.show(problem).results.size() == 1);
}

TEST_CASE("a problem that an earlier version stored before planning it is planned at the next start") {
  World world;
  world.add_application();
  const ProblemId problem = world.look<ProblemId>([](service::Transaction& tx) {
    storage::ProblemRow row;
    row.name = "from before";
    row.application = tx.model.applications.begin()->first;
    row.parameters = R"({"count": 7})";
    row.strategy = "gleaner";
    row.created_at = tx.now;
    return must(tx.store.add_problem(row));
  });
  const ProblemId bad = world.look<ProblemId>([](service::Transaction& tx) {
    storage::ProblemRow row;
    row.name = "refused before";
    row.application = tx.model.applications.begin()->first;
    row.parameters = R"({"x": "refuse"})";
    row.strategy = "gleaner";
    row.created_at = tx.now;
    return must(tx.store.add_problem(row));
  });
  world.restart();
  CHECK(world.show(problem).state == ProblemState::running);
  CHECK(world.show(problem).items == 7);
  CHECK(world.show(bad).state == ProblemState::failed);
  CHECK(says(world.show(bad).message, "make no sense"));
  (void)world.memory();
}

TEST_CASE("what fair sharing charged is written from time to time, or not at all") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(1000);
  (void)world.grants(host.id, 4);
  const auto stored = [&] {
    return world.look<double>([&](service::Transaction& tx) {
      for (const auto& row : must(tx.store.problems()))
        if (row.id == problem) return row.service;
      return -1.0;
    });
  };
  CHECK(stored() == 0);
  for (int i = 0; i < 31; ++i) world.tick();
  CHECK(stored() >= 29);  // slot-seconds that have passed, nothing that was estimated
}

TEST_CASE("a lease that runs out frees the items, whole or not at all") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(30);
  (void)world.grants(host.id);
  for (int n = 1; n < 50; ++n) {
    world.clock().advance(std::chrono::hours{25});  // reading the model back renews the leases
    const std::string before = world.memory();
    const auto commits = world.store().commits();
    world.store().fail_at(n);
    world.service().ticker().tick();
    while (!world.store().failed() && world.store().commits() == commits)
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
    const bool failed = world.store().failed();
    world.store().heal();
    world.settle();
    if (!failed) break;
    REQUIRE(world.memory() == before);
  }
  world.tick();
  CHECK(world.show(problem).open_units == 0);
  CHECK(world.show(problem).free == 30);
  (void)world.memory();
}

TEST_CASE("the log of decisions tells of what has happened and of nothing else") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  (void)world.add_problem(30);
  world.store().fail_at(4);
  CHECK(!world.work(host.id, world.work_request()).ok());
  world.store().heal();
  world.tick();
  const io::Path path = world.project().decisions();
  const auto text = [&] {
    const auto bytes = io::real_files().read(path, 1 << 20);
    return bytes.ok() ? *bytes : Bytes{};
  };
  CHECK(says(text(), "\"dispatch\":\"stage\""));
  CHECK(text().find("\"dispatch\":\"work\"") == std::string::npos);
  (void)world.grants(host.id);
  world.tick();
  CHECK(says(text(), "\"dispatch\":\"work\""));
}

TEST_CASE("a stage that is combined while its problem is paused begins paused, stored whole or not at all") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(2, ", \"stages\": 2");
  (void)must(world.change(problem, service::Problems::Action::pause));
  service::CombinedStage combined;
  combined.files = {{"pieces.txt", must(world.service().kernel().blobs().put("pieces")), 6, "text/plain"}};
  combined.next.row.stage = 1;
  combined.next.row.name = "the next";
  combined.next.row.items = 4;
  with_each_failure(world, [&](World& w) {
    return w.operate([problem, combined](service::Transaction& tx) {
      tx.model.problems.at(problem).row.resume_to = ProblemState::combining;
      return service::take_combined(tx, problem, 0, combined);
    });
  });
  auto info = world.show(problem);
  CHECK(info.state == ProblemState::paused);
  CHECK(info.stage == 1);
  CHECK(info.stage_name == "the next");
  CHECK(info.free == 4);
  CHECK(info.results.size() == 1);
  CHECK(must(world.work(host.id, world.work_request())).grants.empty());
  (void)must(world.change(problem, service::Problems::Action::resume));
  compute(world, host.id, problem);
  info = world.show(problem);
  CHECK(info.state == ProblemState::finished);
  CHECK(info.stage == 1);
}

TEST_CASE("what a job came to of a problem that went on, ended or was deleted changes nothing") {
  World world;
  world.add_application();
  const ProblemId running = world.add_problem(5), cancelled = world.add_problem(5);
  (void)must(world.change(cancelled, service::Problems::Action::cancel));
  const std::string before = world.memory();
  const Error late{ErrorKind::internal, "too late"};
  (void)world.look<bool>([&](service::Transaction& tx) {
    must(service::take_plan(tx, cancelled, late));
    must(service::take_plan(tx, ProblemId{9}, late));
    must(service::take_combined(tx, running, 0, late));  // it is not combining
    must(service::take_combined(tx, running, 1, late));  // nor at that stage
    must(service::take_combined(tx, cancelled, 0, late));
    must(service::take_combined(tx, ProblemId{9}, 0, late));
    return true;
  });
  CHECK(world.memory() == before);
  CHECK(world.show(running).state == ProblemState::running);
}

TEST_CASE("each decision is in the log where that is asked for") {
  const LogLines log(spdlog::level::debug);
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(30);
  const auto grant = world.grants(host.id).front();
  world.tick();
  CHECK(log.has("debug: problem " + std::to_string(problem.value) + " unit " +
                std::to_string(grant.unit.value) + " host " + std::to_string(host.id.value)));
  CHECK(log.has("[" + std::to_string(grant.range.begin) + ", " + std::to_string(grant.range.end) + ")"));
}

TEST_CASE("taking up what was under way, after the model was read back: whatever call fails, it goes on") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(30), paused = world.add_problem(30);
  (void)must(world.change(paused, service::Problems::Action::pause));
  const auto held = world.grants(host.id, 2);
  world.finish(held.front());
  for (int n = 1; n < 60; ++n) {
    INFO("call " << n << " fails");
    const std::string before = world.memory();
    (void)world.look<bool>([](service::Transaction& tx) {
      tx.effects.add(service::effect::Reload{});
      return true;
    });
    world.store().fail_at(n);
    const auto shown = World::wait<protocol::ProblemInfo>(
        [&](auto done) { world.service().problems().show(problem, std::move(done)); });
    world.store().heal();
    const bool failed = world.store().failed();
    CHECK(shown.ok() == !failed);
    world.settle();
    REQUIRE(world.memory() == before);
    if (failed) continue;
    CHECK(n > 4);  // more than the begin, the question's own calls and the commit
    compute(world, host.id, problem);
    CHECK(world.show(problem).state == ProblemState::finished);
    return;
  }
  FAIL("it never succeeds");
}
