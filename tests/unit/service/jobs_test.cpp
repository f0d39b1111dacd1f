// What operations ask for happens after their sync, in order and not at all without it; what the pool's jobs
// came to is stored.
#include "server/service/jobs.h"
#include "server/service/work/life_cycle.h"
#include "server/service/work/stage_planning.h"

#include <filesystem>
#include <thread>

#include "shared/crypto/keys.h"
#include "tests/unit/service/log_lines.h"
#include "tests/unit/service/world.h"

using namespace gleaner;
using namespace gleaner::service;
using namespace gleaner::service::testing;
using protocol::ProblemState;

namespace {

// An operation that does nothing but ask for these; they have happened when it returns.
Status perform(World& world, const std::vector<Effect>& effects) {
  return world.operate([effects](Transaction& tx) -> Status {
    for (const Effect& effect : effects) tx.effects.add(effect);
    return {};
  });
}

ManagerSetup manager_of(World& world, ProblemId problem) {
  return world.look<ManagerSetup>(
      [problem](Transaction& tx) { return manager_setup(tx.model, tx.model.problems.at(problem)); });
}

std::string file_text(const io::Path& path) {
  const auto bytes = io::real_files().read(path, 1 << 20);
  return bytes.ok() ? *bytes : "(not there)";
}

int starts_of_manager(World& world, ProblemId problem) {
  const std::string started = file_text(world.project().problem(problem) / "work" / "started");
  return static_cast<int>(std::count(started.begin(), started.end(), '\n'));
}

// A problem as an earlier version stored it: not planned yet.
ProblemId add_unplanned(World& world, const std::string& parameters,
                        const std::vector<protocol::Input>& inputs = {}) {
  return world.look<ProblemId>([&](Transaction& tx) {
    storage::ProblemRow row;
    row.name = "from before";
    row.application = tx.model.applications.begin()->first;
    row.parameters = parameters;
    row.inputs = inputs;
    row.strategy = "gleaner";
    row.created_at = tx.now;
    return must(tx.store.add_problem(row));
  });
}

}  // namespace

TEST_CASE("a file is removed after the sync, and one that cannot be is told of") {
  const LogLines log;
  World world;
  io::Files& files = io::real_files();
  const io::Path file = world.directory() / "done-with", full = world.directory() / "full";
  must(files.write(file, "", io::Mode::normal));
  must(files.make_directories(full / "something"));
  must(perform(world, {effect::RemoveFile{file}, effect::RemoveFile{full}}));
  CHECK(!files.exists(file));
  CHECK(files.exists(full / "something"));
  CHECK(log.count("remove it by hand") == 1);
}

TEST_CASE("nothing happens of what a failed transaction asked for") {
  const LogLines log;
  World world;
  const io::Path file = world.directory() / "still-needed";
  must(io::real_files().write(file, "", io::Mode::normal));
  const std::vector<Effect> effects{effect::RemoveFile{file},
                                    effect::AdmitToken{crypto::sha256("a token"), HostId{7}},
                                    effect::LogLine{effect::LogLine::Level::info, "it has happened"}};
  auto& enrolment = world.service().enrolment();
  for (const int call : {1, 2}) {  // the begin, the commit
    world.store().fail_at(call);
    CHECK(!perform(world, effects).ok());
    world.store().heal();
    CHECK(io::real_files().exists(file));
    CHECK(!enrolment.authenticate_host("a token").ok());
    CHECK(!log.has("it has happened"));
  }
  must(perform(world, effects));
  CHECK(!io::real_files().exists(file));
  CHECK(must(enrolment.authenticate_host("a token")) == HostId{7});
  CHECK(log.count("it has happened") == 1);
  must(perform(world, {effect::DropToken{crypto::sha256("a token")}}));
  CHECK(!enrolment.authenticate_host("a token").ok());
}

TEST_CASE("an administrator's token counts from its effect on, as its row says") {
  World world;
  auto& admins = world.service().admins();
  storage::TokenRow row{"clerk", crypto::sha256("a secret"), protocol::Role::view, world.clock().now(), {},
                        {}};
  CHECK(!admins.authenticate("a secret").ok());
  must(perform(world, {effect::PutAdminToken{row}}));
  CHECK(must(admins.authenticate("a secret")).role == protocol::Role::view);
  row.withdrawn_at = world.clock().now();
  must(perform(world, {effect::PutAdminToken{row}}));
  CHECK(!admins.authenticate("a secret").ok());
}

TEST_CASE("log lines come in the order and with the level that they were asked for") {
  const LogLines log;
  World world;
  using Level = effect::LogLine::Level;
  must(perform(
      world,
      {effect::LogLine{Level::error, "one of these"}, effect::LogLine{Level::info, "two of these"},
       effect::LogLine{Level::debug, "three of these"}, effect::LogLine{Level::warning, "four of these"}}));
  std::vector<std::string> lines;
  for (const std::string& line : log.all())
    if (line.ends_with("of these")) lines.push_back(line);
  CHECK(lines ==
        std::vector<std::string>{"error: one of these", "info: two of these", "warning: four of these"});
}

TEST_CASE("a manager that is ended keeps its directory and is started again when it is needed") {
  World world;
  world.add_application();
  const ProblemId problem = world.add_problem(5);
  const ManagerSetup setup = manager_of(world, problem);
  CHECK(starts_of_manager(world, problem) == 1);
  must(world.service().kernel().managers().with(setup, [](auto& session) { return session.check(); }));
  CHECK(starts_of_manager(world, problem) == 1);
  must(perform(world, {effect::EndManager{problem}}));
  for (int i = 0; i < 1000 && starts_of_manager(world, problem) == 1; ++i) {  // the pool ends it
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
    must(world.service().kernel().managers().with(setup, [](auto& session) { return session.check(); }));
  }
  CHECK(starts_of_manager(world, problem) == 2);
}

TEST_CASE("a model that is read back knows nothing that is not stored") {
  World world;
  (void)world.add_host("stored");
  (void)world.look<bool>([](Transaction& tx) {
    tx.model.hosts[HostId{99}].row.name = "imagined";
    tx.effects.add(effect::Reload{});
    return true;
  });
  const std::string memory = world.memory();
  CHECK(says(memory, "stored"));
  CHECK(memory.find("imagined") == std::string::npos);
}

TEST_CASE("what the manager plans is the stage: items, their costs, its inputs among the blobs") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId plain = world.add_problem(5);
  CHECK(world.show(plain).cost == 5);
  (void)must(world.change(plain, Problems::Action::cancel));
  const ProblemId problem = world.add_problem(5, R"(, "x": "hints stage-input")");
  CHECK(world.show(problem).cost == 10);
  const auto grant = world.grants(host.id).front();
  REQUIRE(grant.inputs.size() == 1);
  CHECK(grant.inputs[0].name == "facts");
  CHECK(grant.inputs[0].bytes == 11);
  CHECK(must(world.service().kernel().blobs().read(grant.inputs[0].digest, 100)) == "of stage 0\n");
  CHECK(grant.cost == 2 * static_cast<double>(grant.range.size()));
  world.restart();
  CHECK(world.show(problem).cost == 10);
}

TEST_CASE("a plan ends at its last stage, and is refused beyond 64") {
  World world;
  world.add_application();
  Kernel& kernel = world.service().kernel();
  const ManagerSetup one = manager_of(world, world.add_problem(5));
  CHECK(!must(plan_stage(kernel, one, 0)).end);
  CHECK(must(plan_stage(kernel, one, 1)).end);
  const ManagerSetup many = manager_of(world, world.add_problem(5, R"(, "stages": 1000)"));
  const PlannedStage last = must(plan_stage(kernel, many, 63));
  CHECK(last.row.stage == 63);
  CHECK(last.row.name == "numbers");
  CHECK(last.row.items == 5);
  const auto beyond = plan_stage(kernel, many, 64);
  REQUIRE(!beyond.ok());
  CHECK(beyond.error().kind == ErrorKind::invalid);
  CHECK(says(beyond.error().message, "more than 64 stages"));
}

TEST_CASE("hints that are not one for each item refuse the problem with the line") {
  World world;
  world.add_application();
  protocol::AddProblem request;
  request.application = "numbers";
  request.parameters = R"({"count": 5, "x": "few-hints"})";
  const auto refused = world.try_add_problem(request);
  REQUIRE(!refused.ok());
  CHECK(says(refused.error().message, "it ends after line 1"));
  world.settle();
  CHECK(!io::real_files().exists(world.project().problem(ProblemId{1})));
}

TEST_CASE("a result that is a link out of the manager's directory is not taken") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(1, R"(, "x": "escapes")");
  world.finish(world.grants(host.id).front());
  world.settle();
  const auto info = world.show(problem);
  CHECK(info.state == ProblemState::failed);
  CHECK(says(info.message, "the path of a file in its working directory"));
  CHECK(info.results.empty());
}

TEST_CASE("what a manager names in its directory is kept as it is, what is not there is an error") {
  World world;
  world.add_application();
  const ProblemId problem = world.add_problem(5);
  Kernel& kernel = world.service().kernel();
  const io::Path work = world.project().problem(problem) / "work";
  must(io::real_files().write(work / "answer", "42", io::Mode::normal));
  const auto kept = must(keep_files(kernel, problem, {{"the answer", work / "answer", "text/plain"}}));
  REQUIRE(kept.size() == 1);
  CHECK(kept[0].name == "the answer");
  CHECK(kept[0].bytes == 2);
  CHECK(kept[0].media_type == "text/plain");
  CHECK(must(kernel.blobs().read(kept[0].digest, 10)) == "42");
  CHECK(!keep_files(kernel, problem, {{"none", work / "nothing", "text/plain"}}).ok());
}

TEST_CASE("a problem whose input is lost before it is planned waits for it, and is planned when it is back") {
  World world;
  world.add_application();
  const std::string digest = must(world.service().kernel().blobs().put("all that is known"));
  const ProblemId problem = add_unplanned(world, R"({"count": 3})", {{"facts", digest, 17, {}}});
  std::filesystem::remove(world.service().kernel().blobs().path(digest));
  world.restart();
  auto info = world.show(problem);
  CHECK(info.state == ProblemState::stopped);
  CHECK(says(info.message, "input facts is damaged or gone"));
  CHECK(info.items == 0);
  (void)must(world.service().kernel().blobs().put("all that is known"));
  (void)must(world.change(problem, Problems::Action::resume));
  world.settle();
  info = world.show(problem);
  CHECK(info.state == ProblemState::running);
  CHECK(info.items == 3);
  (void)world.memory();
}

TEST_CASE("a plan that cannot be stored is stored later: whole, and once") {
  const bool refused = GENERATE(false, true);
  for (int n = 1; n < 30; ++n) {
    INFO("call " << n << " fails, refused " << refused);
    World world;
    world.add_application();
    const ProblemId problem = add_unplanned(world, R"({"count": 3})");
    (void)world.look<bool>([problem](Transaction& tx) {
      tx.model.underway.jobs.insert(problem);  // its plan is being made
      tx.effects.add(effect::Reload{});
      return true;
    });
    PlannedStage planned;
    planned.row.name = "as planned";
    planned.row.items = 3;
    const Result<PlannedStage> came =
        refused ? Result<PlannedStage>(Error{ErrorKind::invalid, "no such plan"}) : planned;
    const std::int64_t commits = world.store().commits();
    world.store().fail_at(n);
    world.service().kernel().writer().submit_surely(
        [problem, came](Transaction& tx) { return take_plan(tx, problem, came); });
    while (!world.store().failed() && world.store().commits() == commits)
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
    const bool failed = world.store().failed();
    world.store().heal();
    world.tick();
    const auto info = world.show(problem);
    CHECK(info.stage_name == (refused ? "" : "as planned"));
    CHECK(info.state == (refused ? ProblemState::failed : ProblemState::running));
    if (refused) CHECK(says(info.message, "planning failed: no such plan"));
    (void)world.memory();
    if (!failed) return;
  }
  FAIL("it never succeeds");
}
