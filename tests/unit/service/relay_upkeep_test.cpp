// What a relay does besides: failures go up, what is over goes from its disk, results have a cap, people are
// told.
#include "server/relay/leases/upstream.h"
#include "server/service/core/departures.h"
#include "server/service/core/stage_changes.h"

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

TEST_CASE("what a relay's lease has run out of is handed to nobody, and leased anew") {
  Tree tree(40, "rts");
  static_cast<void>(tree.take(tree.children[0]));
  tree.world.clock().advance(std::chrono::hours{24 * 16});
  // Its parent sees nothing of that yet.
  const auto again = [&] {
    return tree.look<bool>([&](Transaction& tx) {
      return std::any_of(
          upstream_of(tx.model).leases.begin(), upstream_of(tx.model).leases.end(),
          [&](const auto& entry) { return entry.second.open && entry.second.deadline <= tx.now; });
    });
  };
  CHECK(again());
  tree.speak_all();
  CHECK_FALSE(again());
  tree.finish();
}

TEST_CASE("a host that is revoked at the project is put out by its relay, which says so until it is heard") {
  Tree tree;
  const TreeChild child = tree.children[0];
  const auto grant = tree.take(child);
  const auto held = tree.result(child, grant, grant.range);
  tree.reachable = false;
  static_cast<void>(tree.work(child, {held}, 0));
  static_cast<void>(tree.speak());
  const bool may_return = GENERATE(false, true);
  must(World::wait<protocol::HostInfo>(
      [&](auto done) { tree.world.service().hosts().revoke(child.id, {may_return}, std::move(done)); }));
  const auto said = [&] {
    return tree.world.look<std::size_t>([](Transaction& tx) { return tx.model.put_out.size(); });
  };
  const auto here = [&] {
    return tree.look<protocol::HostState>(
        [&](Transaction& tx) { return tx.model.hosts.at(child.id).row.state; });
  };
  CHECK(said() == 1);
  tree.world.restart();
  CHECK(said() == 1);
  CHECK(here() == protocol::HostState::active);  // it has not heard it
  tree.world.clock().advance(std::chrono::seconds{10});
  tree.reachable = true;
  tree.speak_all();
  CHECK(here() == protocol::HostState::left);
  auto refused = tree.ask(child);
  CHECK(refused.get().error().kind == ErrorKind::forbidden);
  CHECK(said() == 1);  // the project has not heard that
  tree.open();
  tree.hear_of_those_that_left();
  tree.branch->subtree().tell();
  for (int i = 0; i < 60'000 && said() > 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds{1});
  CHECK(said() == 0);
  // What it computed is the project's to refuse, and what it had goes to others.
  tree.children.erase(tree.children.begin());
  tree.finish();
  const auto credited = tree.world.look<std::int64_t>(
      [&](Transaction& tx) { return tx.model.hosts.at(child.id).row.items_accepted; });
  CHECK(credited == (may_return ? grant.range.size() : 0));
  CHECK(tree.look<bool>([](Transaction& tx) { return upstream_of(tx.model).owed.empty(); }));
}

TEST_CASE("a relay passes on who is put out to the relay under it, and believes no other that it has gone") {
  Tree tree;
  const TreeChild& child = tree.children[0];
  const HostId below = tree.children[1].id, stranger{999};
  must(tree.operate([&](Transaction& tx) -> Status {
    Host &relay = tx.model.hosts.at(below), &host = tx.model.hosts.at(child.id);
    relay.row.children = 3;
    host.row.relay = below;
    for (Host* const each : {&relay, &host}) {
      TRY(tx.store.update_host(each->row));
      tx.model.index.put(each->row);
    }
    return Status{};
  }));
  const auto told = [&] {
    return tree.look<std::vector<HostId>>([&](Transaction& tx) {
      std::vector<HostId> gone;
      must(take_put_out(tx, {child.id, stranger}, gone));
      return gone;
    });
  };
  const auto under = [&] {
    return tree.look<std::vector<HostId>>(
        [&](Transaction& tx) { return put_out_under(tx.model, below).value_or(std::vector<HostId>{}); });
  };
  // Of whom nothing is known here, nothing is here.
  CHECK(told() == std::vector{stranger});
  CHECK(under() == std::vector{child.id});
  CHECK(told() == std::vector{stranger});
  tree.open();
  CHECK(under() == std::vector{child.id});
  const auto leave = [&](HostId relay) {
    must(World::wait_done([&](auto done) { tree.branch->relays().leave(relay, child.id, std::move(done)); }));
  };
  leave(HostId{998});
  CHECK(under() == std::vector{child.id});
  leave(below);
  CHECK(under().empty());
  CHECK(told() == std::vector{child.id, stranger});
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
    return tree.look<std::int64_t>([](Transaction& tx) { return upstream_of(tx.model).owed_bytes; });
  };
  CHECK(owed() == 0);
  REQUIRE(tree.work(child, {commit}, 0).held);
  CHECK(owed() == commit.bytes);
  tree.open();
  CHECK(owed() == commit.bytes);

  must(tree.operate([](Transaction& tx) {
    upstream_of(tx.model).owed_bytes = 1'000'000;  // as if there were as many
    return Status{};
  }));
  CHECK(!tree.work(other, {more}, 0).held);
  // What it has it has.
  CHECK(tree.work(child, {commit}, 0).held);
  CHECK(tree.look<bool>([](Transaction& tx) { return upstream_of(tx.model).full; }));
  for (int i = 0; i < 60 && owed() == 1'000'000; ++i) {
    tree.world.clock().advance(std::chrono::minutes{1});
    tree.speak_all();
  }
  CHECK(owed() == 1'000'000 - commit.bytes);
  CHECK(!tree.look<bool>([](Transaction& tx) { return upstream_of(tx.model).full; }));
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
      problem.stage->apply(
          policy::GiveBackEvent{tree.relay, unit, policy::GiveBack::returned, 0, "taken back"}, tx.now,
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
