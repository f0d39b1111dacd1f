// Problems are added, changed and deleted whole or not at all.
#include <limits>
#include <map>
#include <set>

#include "tests/unit/service/world.h"

using namespace gleaner;
using namespace gleaner::service::testing;
using protocol::ProblemState;
using service::Problems;

namespace {

protocol::AddProblem request(const std::string& parameters = R"({"count": 5})") {
  protocol::AddProblem problem;
  problem.application = "numbers";
  problem.parameters = parameters;
  return problem;
}

std::vector<protocol::ProblemInfo> problems_of(World& world) {
  return must(World::wait<std::vector<protocol::ProblemInfo>>(
      [&](auto done) { world.service().problems().list(std::move(done)); }));
}

Result<protocol::ProblemInfo> change_strategy(World& world, ProblemId id,
                                              const protocol::ChangeStrategy& change) {
  return World::wait<protocol::ProblemInfo>(
      [&](auto done) { world.service().problems().change_strategy(id, change, std::move(done)); });
}

}  // namespace

TEST_CASE("a problem is added: whatever call of the store fails, it is there with its stage or not at all") {
  World world;
  world.add_application();
  auto named = request();
  named.name = "the one";
  with_each_failure(world, [&](World& w) {
    return status_of(w.try_add_problem(named));  // its name is free again each time
  });
  REQUIRE(problems_of(world).size() == 1);
  const auto info = problems_of(world)[0];
  CHECK(info.id == ProblemId{1});  // failures use up no number
  CHECK(info.name == "the one");
  CHECK(info.state == ProblemState::running);
  CHECK(info.items == 5);
  CHECK(info.free == 5);
}

TEST_CASE("what the manager refuses was never a problem") {
  World world;
  world.add_application();
  const std::string before = world.memory();
  for (int i = 0; i < 4; ++i) {
    auto refused = request(R"({"count": 5, "x": "refuse"})");
    refused.name = "again";
    const auto answer = world.try_add_problem(refused);
    REQUIRE(!answer.ok());
    CHECK(says(answer.error().message, "make no sense"));
  }
  world.settle();
  CHECK(world.memory() == before);
  CHECK(!io::real_files().exists(world.project().problem(ProblemId{1})));
  auto good = request();
  good.name = "again";
  CHECK(must(world.try_add_problem(good)).id == ProblemId{1});
}

TEST_CASE("two problems at once get two numbers and two names") {
  World world;
  world.add_application();
  std::vector<std::future<Result<protocol::ProblemInfo>>> answers;
  for (int i = 0; i < 6; ++i) {
    auto promise = std::make_shared<std::promise<Result<protocol::ProblemInfo>>>();
    answers.push_back(promise->get_future());
    world.service().problems().add(
        request(), [promise](Result<protocol::ProblemInfo> info) { promise->set_value(std::move(info)); });
  }
  std::set<std::string> names;
  std::set<ProblemId> ids;
  for (auto& answer : answers) {
    const auto info = must(answer.get());
    names.insert(info.name);
    ids.insert(info.id);
  }
  CHECK(names ==
        std::set<std::string>{"numbers-1", "numbers-2", "numbers-3", "numbers-4", "numbers-5", "numbers-6"});
  CHECK(ids.size() == 6);
  CHECK(ids.rbegin()->value == 6);
  (void)world.memory();
}

TEST_CASE("what a problem must not be") {
  World world;
  world.add_application();
  const auto refused = [&](const protocol::AddProblem& problem, ErrorKind kind, const std::string& why) {
    const auto answer = world.try_add_problem(problem);
    REQUIRE(!answer.ok());
    CHECK(answer.error().kind == kind);
    CHECK(says(answer.error().message, why));
  };
  auto bad = request();
  bad.application = "other";
  refused(bad, ErrorKind::not_found, "no application other");
  bad.application = "numbers@9";
  refused(bad, ErrorKind::not_found, "no application numbers@9");
  bad = request("no JSON");
  refused(bad, ErrorKind::invalid, "parameters");
  bad = request();
  bad.strategy = "magic";
  refused(bad, ErrorKind::invalid, "no strategy 'magic'");
  bad = request();
  bad.straggler = "magic";
  refused(bad, ErrorKind::invalid, "magic");
  for (const double weight : {0.0, -1.0, 1001.0, std::numeric_limits<double>::quiet_NaN()}) {
    bad = request();
    bad.weight = weight;
    refused(bad, ErrorKind::invalid, "weight");
  }
  bad = request();
  bad.priority = 9;
  refused(bad, ErrorKind::invalid, "priority");
  bad = request();
  bad.inputs = {{"../escape", std::string(64, 'a'), 0, {}}};
  refused(bad, ErrorKind::invalid, "plain file name");
  bad.inputs = {{"input", std::string(64, 'a'), 0, {}}};
  refused(bad, ErrorKind::conflict, "upload the input");
  bad = request(std::string((1 << 20) + 1, ' '));
  refused(bad, ErrorKind::too_large, "1 MiB");
  CHECK(problems_of(world).empty());
}

TEST_CASE("a name is taken once") {
  World world;
  world.add_application();
  auto named = request();
  named.name = "once";
  (void)must(world.try_add_problem(named));
  const auto again = world.try_add_problem(named);
  REQUIRE(!again.ok());
  CHECK(again.error().kind == ErrorKind::conflict);
  CHECK(says(again.error().message, "choose another name"));
}

TEST_CASE("a problem's strategy and straggler rule are the project's if it names none") {
  World world([](service::Configuration& c) {
    c.strategy = "wis";
    c.straggler = "rdlb";
  });
  world.add_application();
  auto info = world.show(must(world.try_add_problem(request())).id);
  CHECK(info.strategy == "wis");
  CHECK(info.straggler == "rdlb");
  auto own = request();
  own.strategy = "gleaner";  // brings its own end rules
  info = world.show(must(world.try_add_problem(own)).id);
  CHECK(info.straggler == "split");
  own.straggler = "none";
  CHECK(world.show(must(world.try_add_problem(own)).id).straggler == "none");
}

TEST_CASE("pause, resume and cancel are stored whole or not at all") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(30);
  (void)world.grants(host.id);
  const auto changed = [&](Problems::Action action) {
    with_each_failure(world, [&](World& w) { return status_of(w.change(problem, action)); });
    return world.show(problem).state;
  };
  CHECK(changed(Problems::Action::pause) == ProblemState::paused);
  CHECK(must(world.work(host.id, world.work_request())).grants.empty());
  CHECK(must(world.change(problem, Problems::Action::pause)).state == ProblemState::paused);
  world.restart();
  CHECK(world.show(problem).state == ProblemState::paused);
  CHECK(changed(Problems::Action::resume) == ProblemState::running);
  CHECK(changed(Problems::Action::cancel) == ProblemState::cancelled);
  CHECK(world.show(problem).open_units == 0);
  CHECK(says(world.show(problem).message, "by the administrator"));
  const auto over = world.change(problem, Problems::Action::resume);
  REQUIRE(!over.ok());
  CHECK(over.error().kind == ErrorKind::conflict);
  CHECK(world.change(ProblemId{9}, Problems::Action::pause).error().kind == ErrorKind::not_found);
}

TEST_CASE("a strategy is changed whole or not at all, while units are out") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(30);
  (void)world.grants(host.id);
  with_each_failure(world, [&](World& w) {
    return status_of(change_strategy(w, problem, {"fac2", "duplicate-once"}));
  });
  CHECK(world.show(problem).strategy == "fac2");
  CHECK(world.show(problem).straggler == "duplicate-once");
  world.restart();
  CHECK(world.show(problem).strategy == "fac2");
  CHECK(!change_strategy(world, problem, {"magic", ""}).ok());
  CHECK(!change_strategy(world, problem, {"", "magic"}).ok());
  CHECK(must(change_strategy(world, problem, {"", ""})).strategy == "fac2");
  protocol::ChangeStrategy share;
  share.weight = 2.5;
  share.priority = 3;
  const auto shared = must(change_strategy(world, problem, share));
  CHECK(shared.weight == 2.5);
  CHECK(shared.priority == 3);
  CHECK(shared.strategy == "fac2");
  share.weight = 0;
  CHECK(change_strategy(world, problem, share).error().kind == ErrorKind::invalid);
  CHECK(change_strategy(world, ProblemId{9}, {"wis", ""}).error().kind == ErrorKind::not_found);
  (void)must(world.change(problem, Problems::Action::cancel));
  CHECK(change_strategy(world, problem, {"wis", ""}).error().kind == ErrorKind::conflict);
}

TEST_CASE("a problem is deleted with its files; until that is stored, nothing of it goes") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(30);
  const auto grant = world.grants(host.id).front();
  (void)must(world.commit(host.id, World::results(grant.unit, {grant.range.begin, grant.range.begin + 1})));
  world.tick();
  const auto files_there = [&] { return io::real_files().exists(world.project().problem(problem)); };
  with_each_failure(world, [&](World& w) {
    CHECK(files_there());
    const Status removed = w.remove(problem);
    if (!removed.ok()) CHECK(files_there());
    return removed;
  });
  CHECK(!io::real_files().exists(world.project().problem(problem)));
  CHECK(problems_of(world).empty());
  CHECK(world.remove(problem).error().kind == ErrorKind::not_found);
  CHECK(world.add_problem(5) == ProblemId{2});  // a number that was used does not come back
  const auto late = must(world.commit(host.id, World::results(grant.unit, grant.range, true)));
  CHECK(late.status == protocol::CommitStatus::refused);
}

TEST_CASE("decisions are told, newest first") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(30);
  (void)world.grants(host.id, 2);
  const auto decisions = [&](int count) {
    return World::wait<std::vector<protocol::DecisionInfo>>(
        [&](auto done) { world.service().problems().decisions(problem, count, std::move(done)); });
  };
  CHECK(must(decisions(50)).size() >= 2);
  CHECK(must(decisions(1)).size() == 1);
  CHECK(must(decisions(-5)).size() == 1);
  CHECK(must(decisions(50)).front().host == host.id);
  const auto unknown = World::wait<std::vector<protocol::DecisionInfo>>(
      [&](auto done) { world.service().problems().decisions(ProblemId{9}, 5, std::move(done)); });
  CHECK(unknown.error().kind == ErrorKind::not_found);
}

TEST_CASE("who only looks is told when the store fails") {
  World world;
  world.add_application();
  const ProblemId problem = world.add_problem(30);
  with_each_failure(world, [&](World& w) {
    return status_of(World::wait<protocol::ProblemInfo>(
        [&](auto done) { w.service().problems().show(problem, std::move(done)); }));
  });
  with_each_failure(world, [&](World& w) {
    return status_of(World::wait<std::vector<protocol::ProblemInfo>>(
        [&](auto done) { w.service().problems().list(std::move(done)); }));
  });
  with_each_failure(world, [&](World& w) {
    return status_of(World::wait<std::vector<protocol::HostInfo>>(
        [&](auto done) { w.service().hosts().list(std::move(done)); }));
  });
}

TEST_CASE("the strategies are those of the three tables") {
  std::map<std::string, int> kinds;
  for (const auto& strategy : service::strategies()) ++kinds[strategy.kind];
  CHECK(kinds.size() == 3);
  CHECK(kinds["sizing"] > 5);
  CHECK(kinds["mapping"] > 5);
  CHECK(kinds["straggler"] > 5);
}
