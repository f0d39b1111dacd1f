// How a problem comes to be: its number and name are reserved while it is planned, and nothing of it stays if
// it cannot be.
#include <filesystem>
#include <thread>

#include "shared/base/limits.h"
#include "tests/unit/service/world.h"

using namespace gleaner;
using namespace gleaner::service::testing;
using protocol::ProblemState;

namespace {

protocol::AddProblem small_problem(const std::string& name = "") {
  protocol::AddProblem problem;
  problem.application = "numbers";
  problem.parameters = R"({"count": 5})";
  problem.name = name;
  return problem;
}

// As if these were being planned.
void reserve(World& world, const std::map<ProblemId, std::string>& drafts) {
  (void)world.look<bool>([&](service::Transaction& tx) {
    tx.model.underway.drafts = drafts;
    return true;
  });
}

std::size_t drafts(World& world) {
  return world.look<std::size_t>([](service::Transaction& tx) { return tx.model.underway.drafts.size(); });
}

}  // namespace

TEST_CASE("a name that is being planned is taken, and a number too") {
  World world;
  world.add_application();
  reserve(world, {{ProblemId{1}, "numbers-1"}, {ProblemId{2}, "mine"}});
  const auto again = world.try_add_problem(small_problem("mine"));
  REQUIRE(!again.ok());
  CHECK(again.error().kind == ErrorKind::conflict);
  CHECK(says(again.error().message, "a problem named mine is here already"));
  const auto added = must(world.try_add_problem(small_problem()));
  CHECK(added.id == ProblemId{3});
  CHECK(added.name == "numbers-2");
  CHECK(drafts(world) == 2);  // its own is over
  reserve(world, {});
  CHECK(must(world.try_add_problem(small_problem("mine"))).name == "mine");
}

TEST_CASE("an input that is damaged here refuses the problem and is to be uploaded again") {
  World world;
  world.add_application();
  auto& blobs = world.service().kernel().blobs();
  const std::string text = "all that is known";
  auto problem = small_problem("mine");
  problem.inputs = {{"facts", must(blobs.put(text)), 0, {}}};
  std::filesystem::resize_file(blobs.path(problem.inputs[0].digest), 3);
  const std::string before = world.memory();
  const auto refused = world.try_add_problem(problem);
  REQUIRE(!refused.ok());
  CHECK(refused.error().kind == ErrorKind::conflict);
  CHECK(says(refused.error().message, "facts was damaged here: upload it again"));
  world.settle();
  CHECK(drafts(world) == 0);
  CHECK(world.memory() == before);
  (void)must(blobs.put(text));
  const auto added = must(world.try_add_problem(problem));
  CHECK(added.name == "mine");
  CHECK(added.id == ProblemId{1});
}

TEST_CASE("a draft that is given up is forgotten, also where that cannot be stored at once") {
  World world;
  world.add_application();
  auto refused = small_problem("mine");
  refused.parameters = R"({"count": 5, "x": "refuse"})";
  for (const int n : {3, 4, 5}) {  // the reservation's commit, and the forgetting's begin and commit
    INFO("call " << n << " fails");
    world.store().fail_at(n);
    CHECK(!world.try_add_problem(refused).ok());
    while (!world.store().failed()) std::this_thread::sleep_for(std::chrono::milliseconds{1});
    world.store().heal();
    world.settle();
    CHECK(drafts(world) == 0);
    CHECK(!io::real_files().exists(world.project().problem(ProblemId{1})));
  }
  CHECK(must(world.try_add_problem(small_problem("mine"))).id == ProblemId{1});
}

TEST_CASE("refused problems use up no numbers") {
  World world;
  world.add_application();
  auto refused = small_problem();
  refused.parameters = R"({"count": 5, "x": "refuse"})";
  for (int n = 0; n < 4; ++n) CHECK(!world.try_add_problem(refused).ok());
  CHECK(must(world.try_add_problem(small_problem())).id == ProblemId{1});
  CHECK(!world.try_add_problem(refused).ok());
  CHECK(must(world.try_add_problem(small_problem("next"))).id == ProblemId{2});
}

TEST_CASE("an estimate says what a problem would come to, and nothing of it stays") {
  World world;
  world.add_application();
  const auto estimate = [&world](const protocol::AddProblem& problem) {
    return World::wait<protocol::ProblemEstimate>([&](service::Done<protocol::ProblemEstimate> done) {
      world.service().problems().estimate(problem, std::move(done));
    });
  };
  const auto asked = [](int count) {
    auto problem = small_problem();
    problem.parameters = R"({"count": )" + std::to_string(count) + "}";
    return problem;
  };
  const std::string before = world.memory();
  const auto nobody = must(estimate(asked(40)));
  CHECK(nobody.items == 40);
  CHECK(nobody.cost == 40);
  CHECK(nobody.waits == "no host has joined yet");
  CHECK(nobody.core_seconds < 0);
  auto refused = asked(40);
  refused.parameters = R"({"count": 5, "x": "refuse"})";
  CHECK(!estimate(refused).ok());
  refused.application = "unheard";
  CHECK(estimate(refused).error().kind == ErrorKind::not_found);
  world.settle();
  CHECK(drafts(world) == 0);
  CHECK(world.memory() == before);
  CHECK(!io::real_files().exists(world.project().problem(ProblemId{1})));

  const auto host = world.add_host();
  CHECK(says(must(estimate(asked(40))).waits, "no problem of numbers has run here yet"));
  const auto first = must(world.try_add_problem(asked(10)));
  for (int i = 0; i < 100 && world.show(first.id).state != ProblemState::finished; ++i) {
    world.settle();
    if (world.show(first.id).state == ProblemState::running)
      for (const auto& grant : world.grants(host.id)) world.finish(grant);
  }
  REQUIRE(world.show(first.id).state == ProblemState::finished);
  // As if its ten items had taken a core two seconds each: the clock stands still here.
  must(world.operate([&](service::Transaction& tx) -> Status {
    policy::HostRecord record;
    record.host = host.id;
    record.performance = 1000;  // as this host's benchmark
    record.rate = 0.5;
    record.cost_accepted = 10;
    return tx.store.put_host_record(first.id, 0, record);
  }));
  auto again = asked(10);
  again.parameters = R"({"count": 10  })";
  const auto same = must(estimate(again));
  CHECK(same.tried == 1);
  CHECK(same.same_parameters);
  CHECK(same.waits.empty());
  CHECK(same.hosts == 1);
  CHECK(same.core_seconds == Approx(same.eta_seconds * static_cast<double>(same.cores)));
  CHECK(same.core_seconds == Approx(20));
  const auto more = must(estimate(asked(40)));
  CHECK(!more.same_parameters);
  CHECK(more.core_seconds == Approx(4 * same.core_seconds));
  CHECK(more.eta_high_seconds / more.eta_seconds > same.eta_high_seconds / same.eta_seconds);

  // A core that its owner keeps from it does not count.
  auto of_one_core = world.work_request();
  of_one_core.cores = 1;
  (void)must(world.work(host.id, of_one_core));
  const auto less = must(estimate(asked(10)));
  CHECK(same.cores == 2);
  CHECK(less.cores == 1);
  CHECK(less.eta_seconds == Approx(2 * same.eta_seconds));

  // Others that run share the cores; those of a higher priority go first.
  (void)must(world.try_add_problem(asked(5)));
  CHECK(must(estimate(asked(10))).share == Approx(0.5));
  auto before_all = asked(5);
  before_all.priority = 3;
  (void)must(world.try_add_problem(before_all));
  const auto behind = must(estimate(asked(10)));
  CHECK(says(behind.waits, "higher priority go first: 1"));
  CHECK(behind.eta_seconds < 0);
  CHECK(behind.core_seconds > 0);
}

TEST_CASE("what an earlier draft of its number left is gone before a problem is planned") {
  World world;
  world.add_application();
  const io::Path left = world.project().problem(ProblemId{1}) / "work" / "left";
  must(io::real_files().make_directories(left.parent_path()));
  must(io::real_files().write(left, "behind", io::Mode::normal));
  CHECK(must(world.try_add_problem(small_problem())).id == ProblemId{1});
  CHECK(!io::real_files().exists(left));
  CHECK(io::real_files().exists(left.parent_path()));
}

TEST_CASE("an input's name is a plain file name") {
  World world;
  world.add_application();
  const std::string digest = must(world.service().kernel().blobs().put("some data"));
  const auto named = [&](const std::string& name) {
    auto problem = small_problem();
    problem.inputs = {{name, digest, 0, {}}};
    return world.try_add_problem(problem);
  };
  for (const std::string& name :
       {std::string(), std::string("."), std::string(".."), std::string("a/b"), std::string("a\nb"),
        std::string("a\0b", 3), std::string(limits::name_length_max + 1, 'a')}) {
    INFO(name);
    const auto refused = named(name);
    REQUIRE(!refused.ok());
    CHECK(refused.error().kind == ErrorKind::invalid);
    CHECK(says(refused.error().message, "expected a plain file name"));
  }
  for (const std::string& name :
       {std::string("..."), std::string("a b"), std::string(limits::name_length_max, 'a')}) {
    INFO(name);
    CHECK(must(named(name)).state == ProblemState::running);
  }
}

TEST_CASE("what a request does not say the project and the application do") {
  World world([](service::Configuration& c) { c.commit_seconds = 45; });
  world.add_application();
  world.add_application({"2.0.0", "exact", false, "", "all"});
  const auto row = [&](const protocol::AddProblem& problem) {
    const ProblemId id = must(world.try_add_problem(problem)).id;
    return world.look<storage::ProblemRow>(
        [id](service::Transaction& tx) { return tx.model.problems.at(id).row; });
  };
  auto problem = small_problem();
  problem.application = "numbers@1.0.0";
  CHECK(row(problem).validation == "adaptive");  // the manager sees only whether a result has the right form
  CHECK(row(problem).commit_seconds == 45);
  problem.application = "numbers";  // the newest, whose manager computes every result again
  CHECK(row(problem).validation == "checks");
  problem.validation = "quorum:2";
  problem.commit_seconds = 5;
  CHECK(row(problem).validation == "quorum:2");
  CHECK(row(problem).commit_seconds == 5);
}

TEST_CASE("weight and priority are taken to their bounds and no further") {
  const auto taken = [](double weight, int priority) { return service::check_share(weight, priority).ok(); };
  CHECK(taken(1, 0));
  CHECK(taken(0.001, -8));
  CHECK(taken(1000, 8));
  CHECK(!taken(0.0009, 0));
  CHECK(!taken(1000.1, 0));
  CHECK(!taken(1, -9));
  CHECK(!taken(1, 9));
}

TEST_CASE("a manager that does not start refuses the problem and leaves nothing") {
  World world;
  world.add_application();
  const io::Path manager = world.look<io::Path>([](service::Transaction& tx) {
    const auto& application = tx.model.applications.begin()->second;
    return tx.settings.directory.bundle(application.row.archive) / application.manifest.manager;
  });
  std::filesystem::permissions(manager.parent_path(), std::filesystem::perms::owner_all);
  std::filesystem::rename(manager, manager.parent_path() / "elsewhere");
  const std::string before = world.memory();
  const auto refused = world.try_add_problem(small_problem());
  REQUIRE(!refused.ok());
  world.settle();
  CHECK(world.memory() == before);
  CHECK(!io::real_files().exists(world.project().problem(ProblemId{1})));
  std::filesystem::rename(manager.parent_path() / "elsewhere", manager);
  CHECK(must(world.try_add_problem(small_problem())).id == ProblemId{1});
}
