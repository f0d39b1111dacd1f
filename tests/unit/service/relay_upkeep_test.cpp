// What a relay does besides: failures go up, what is over goes from its disk, results have a cap, people are
// told.
#include "server/service/upstream_quiet.h"

#include "tests/unit/service/relay_tree.h"

using namespace gleaner;
using namespace gleaner::service;
using namespace gleaner::service::testing;

TEST_CASE("a kernel that fails under a relay counts at the project, for the host whose it is") {
  Tree tree;
  const TreeChild& child = tree.children[0];
  const auto grant = tree.take(child);
  tree.reachable = false;
  tree.world.clock().advance(std::chrono::seconds{1});
  tree.fail(child, grant, grant.range.begin);
  CHECK(tree.failures_waiting() == 1);
  static_cast<void>(tree.speak());
  CHECK(tree.failures_waiting() == 1);
  CHECK(tree.failures_of(child) == 0);
  // Not at once again; then it is told, and once.
  tree.reachable = true;
  tree.speak_all();
  CHECK(tree.told.empty());
  tree.world.clock().advance(std::chrono::seconds{6});
  tree.speak_all();
  REQUIRE(tree.told.size() == 1);
  CHECK(tree.told.front().ok());
  CHECK(tree.failures_waiting() == 0);
  CHECK(tree.failures_of(child) == 1);
  // Of an item that no lease has nobody above can say whose it is.
  must(tree.operate([](Transaction& tx) {
    FailureBelow lost{ProblemId{77}, 0, {}};
    lost.report.statement.emplace();
    tx.model.failures_below.push_back(std::move(lost));
    return Status{};
  }));
  tree.speak_all();
  CHECK(tree.failures_waiting() == 0);
  CHECK(tree.told.size() == 1);
  tree.finish();
}

TEST_CASE(
    "a relay whose disk holds as much as it may leaves results with its hosts until its parent took some") {
  Tree tree;
  tree.configuration.results_megabytes = 1;
  tree.open();
  const TreeChild &child = tree.children[0], &other = tree.children[1];
  const auto first = tree.take(child), second = tree.take(other);
  const auto commit = tree.result(child, first, first.range), more = tree.result(other, second, second.range);
  const auto owed = [&] {
    return tree.look<std::int64_t>([](Transaction& tx) { return tx.model.upstream->owed_bytes; });
  };
  CHECK(owed() == 0);
  REQUIRE(tree.work(child, {commit}, 0).held);
  CHECK(owed() == commit.bytes);
  tree.open();
  CHECK(owed() == commit.bytes);

  must(tree.operate([](Transaction& tx) {
    tx.model.upstream->owed_bytes = 1'000'000;  // as if there were as many
    return Status{};
  }));
  CHECK(!tree.work(other, {more}, 0).held);
  // What it has it has.
  CHECK(tree.work(child, {commit}, 0).held);
  CHECK(tree.look<bool>([](Transaction& tx) { return tx.model.upstream->full; }));
  for (int i = 0; i < 60 && owed() == 1'000'000; ++i) {
    tree.world.clock().advance(std::chrono::minutes{1});
    tree.speak_all();
  }
  CHECK(owed() == 1'000'000 - commit.bytes);
  CHECK(!tree.look<bool>([](Transaction& tx) { return tx.model.upstream->full; }));
  CHECK(tree.work(other, {more}, 0).held);
  tree.finish();
}

TEST_CASE("what the project wants no more of goes from a relay, an hour after the last of it") {
  Tree tree;
  const TreeChild& child = tree.children[0];
  const auto grant = tree.take(child);
  tree.tidy();
  tree.world.clock().advance(std::chrono::minutes{61});
  tree.tidy();
  CHECK(tree.knows_problem());  // a lease is open
  tree.finish();
  tree.speak_all();
  tree.tidy();
  tree.world.clock().advance(std::chrono::minutes{59});
  tree.tidy();
  CHECK(tree.knows_problem());
  // Its hosts are told what the project said.
  for (const TreeChild& each : tree.children)
    for (int i = 0; i < 3; ++i) static_cast<void>(tree.work(each, {}, 0));
  tree.world.clock().advance(std::chrono::minutes{2});
  tree.tidy();
  CHECK(!tree.knows_problem());
  CHECK(tree.look<bool>([](Transaction& tx) {
    return must(tx.store.leases()).empty() && must(tx.store.deliveries({})).empty();
  }));
  tree.open();
  CHECK(!tree.knows_problem());

  // The next one begins as the first did.
  static_cast<void>(tree.work(child, {}, 0));
  tree.problem = tree.world.add_problem(20, "", "static,mode=paper");
  tree.finish();
}

TEST_CASE("a problem that went from a relay begins anew with a later lease") {
  Tree tree(40, "gleaner");
  const TreeChild& child = tree.children[0];
  static_cast<void>(tree.take(child));
  // The project has it back, and grants nothing for now.
  (void)must(tree.world.change(tree.problem, Problems::Action::pause));
  REQUIRE(tree.world.look<bool>([&tree](Transaction& tx) {
    Problem& problem = tx.model.problems.at(tree.problem);
    std::vector<UnitId> units;
    for (const policy::Unit* unit : problem.stage->view().open_units()) units.push_back(unit->id);
    policy::Changes changes;
    for (const UnitId unit : units)
      problem.stage->give_back(tree.relay, unit, policy::Stage::GiveBack::returned, 0, "taken back", tx.now,
                               changes);
    must(store_stage(tx, problem, changes));
    return !units.empty();
  }));
  for (int i = 0; i < 30 && tree.knows_problem(); ++i) {
    tree.world.clock().advance(std::chrono::minutes{10});
    tree.speak_all();
    static_cast<void>(tree.work(child, {}, 0));
    tree.tidy();
  }
  REQUIRE(!tree.knows_problem());
  (void)must(tree.world.change(tree.problem, Problems::Action::resume));
  tree.finish();
  CHECK(tree.knows_problem());
}

TEST_CASE("a relay tells what it leases, what waits for its parent, and why that is not heard") {
  Tree tree;
  CHECK(tree.status().leases == 0);
  CHECK(tree.status().results_since == Timestamp{});
  const TreeChild& child = tree.children[0];
  const auto grant = tree.take(child);
  auto status = tree.status();
  CHECK(status.leases == 1);
  CHECK(status.leased_items >= grant.range.size());
  CHECK(status.units == 1);
  CHECK(status.busy == 1);
  CHECK(status.results == 0);
  CHECK(status.trouble.empty());

  tree.reachable = false;
  const auto commit = tree.result(child, grant, grant.range);
  const Timestamp came = tree.world.clock().now();
  REQUIRE(tree.work(child, {commit}, 0).held);
  for (int i = 0; i < 5; ++i) {
    tree.world.clock().advance(std::chrono::minutes{1});
    static_cast<void>(tree.speak());
  }
  status = tree.status();
  CHECK(status.results == 1);
  CHECK(status.result_bytes == commit.bytes);
  CHECK(status.results_since >= came);
  CHECK(status.results_since < came + std::chrono::minutes{1});
  CHECK(status.trouble == "the cable is out");
  CHECK(!status.full);
  tree.open();
  CHECK(tree.status().results_since == status.results_since);

  tree.reachable = true;
  tree.finish();
  tree.speak_all();
  status = tree.status();
  CHECK(status.results == 0);
  CHECK(status.leases == 0);
  CHECK(status.trouble.empty());
}
