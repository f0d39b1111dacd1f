// What a relay leases it grants on, what its hosts deliver it holds until the project has answered.
#include "server/relay/leases/upstream_message.h"

#include "server/storage/store_copy.h"
#include "tests/unit/service/relay_tree.h"

using namespace gleaner;
using namespace gleaner::service;
using namespace gleaner::service::testing;
using protocol::CommitStatus;
using protocol::StatementType;

TEST_CASE("what a relay leases its hosts compute, and the project answers each of them by name") {
  Tree tree;
  const TreeChild& child = tree.children[0];
  // Nothing is here before a host asks.
  CHECK(!tree.speak());
  CHECK(tree.work(child).grants.empty());
  CHECK(tree.speak());
  const auto grant = tree.take(child);
  CHECK(grant.host == child.id);
  CHECK(grant.problem == tree.problem);
  CHECK(Range{0, 40}.contains(grant.range));
  // Its number is none that the project gives.
  CHECK(grant.unit.value > std::int64_t{1} << 28);

  const auto commit = tree.result(child, grant, grant.range);
  const auto reply = tree.work(child, {commit}, 0);
  REQUIRE(reply.held);
  REQUIRE(reply.held->size() == 1);
  CHECK(reply.held->front().unit == grant.unit);
  CHECK(reply.held->front().digest == commit.digest);
  CHECK(reply.acknowledgements.empty());

  tree.finish();
  const auto answers = Tree::answers(tree.work(child, {commit}, 0));
  REQUIRE(!answers.empty());
  CHECK(answers.front().host == child.id);
  CHECK(answers.front().unit == grant.unit);
  CHECK(answers.front().digest == commit.digest);
  CHECK(answers.front().status == CommitStatus::accepted);
}

TEST_CASE("a relay tells an answer once, and again only when its reply may have been lost") {
  Tree tree;
  const TreeChild& child = tree.children[0];
  must(tree.operate([&](Transaction& tx) {
    upstream_of(tx.model).to_tell[child.id].push_back({{}, tree.problem, 0});
    return Status{};
  }));
  const auto told = [&] {
    return tree.look<std::size_t>(
        [&](Transaction& tx) { return tx.model.origin->answers(tx, child.id, 64).size(); });
  };
  CHECK(told() == 1);
  for (int i = 0; i < 5; ++i) CHECK(told() == 0);
  for (const int seconds : {3, 12, 48}) {
    tree.world.clock().advance(std::chrono::seconds{seconds - 1});
    CHECK(told() == 0);
    tree.world.clock().advance(std::chrono::seconds{1});
    CHECK(told() == 1);
  }
  tree.world.clock().advance(std::chrono::hours{1});
  CHECK(told() == 0);
}

TEST_CASE("a relay that is ended at any instant loses nothing") {
  Tree tree(60, "rts", 3);
  int ends = 0;
  for (int round = 0; round < 200 && tree.world.show(tree.problem).accepted < 60; ++round) {
    for (const TreeChild& child : tree.children) {
      const auto reply = tree.work(child);
      if (reply.grants.empty()) continue;
      const auto grant = tree.granted(reply, child);
      if (++ends % 2 == 0) tree.open();
      static_cast<void>(tree.work(child, {tree.result(child, grant, grant.range)}, 0));
      if (ends % 3 == 0) tree.open();
    }
    tree.speak_all();
    if (round % 4 == 0) tree.open();
    tree.world.clock().advance(std::chrono::seconds{10});
  }
  CHECK(tree.world.show(tree.problem).accepted == 60);
  CHECK(ends > 3);
}

TEST_CASE("a relay without its parent goes on with what it has, and nothing is there twice afterwards") {
  Tree tree;
  const TreeChild& child = tree.children[0];
  const auto grant = tree.take(child);
  tree.reachable = false;
  const auto commit = tree.result(child, grant, grant.range);
  REQUIRE(tree.work(child, {commit}, 0).held);
  for (int i = 0; i < 5; ++i) {
    tree.world.clock().advance(std::chrono::seconds{10});
    static_cast<void>(tree.speak());
  }
  CHECK(tree.world.show(tree.problem).accepted == 0);
  // It came once more, and is held all the same.
  CHECK(tree.work(child, {commit}, 0).held);
  tree.reachable = true;
  tree.finish();
}

TEST_CASE("what the project refuses is computed again, and its host hears why") {
  Tree tree(1);  // which is all of its lease, and goes up at once
  const TreeChild& child = tree.children[0];
  const auto grant = tree.take(child);
  const auto bad = tree.result(child, grant, grant.range, [](std::int64_t) { return std::string("wrong"); });
  REQUIRE(tree.work(child, {bad}, 0).held);
  // It goes up with others: what it is a part of is more than one result.
  std::vector<protocol::Acknowledgement> refused;
  const auto hear = [&](const protocol::WorkReply& reply) {
    for (auto& answer : Tree::answers(reply))
      if (answer.status == CommitStatus::refused) refused.push_back(std::move(answer));
  };
  for (int i = 0; i < 60 && refused.empty(); ++i) {
    tree.speak_all();
    tree.world.clock().advance(std::chrono::minutes{1});
    const auto reply = tree.work(child);
    hear(reply);
    if (reply.grants.empty()) continue;
    const auto next = tree.granted(reply, child);
    hear(tree.work(child, {tree.result(child, next, next.range)}, 0));
  }
  REQUIRE(!refused.empty());
  CHECK(refused.front().digest == bad.digest);
  CHECK(refused.front().host == child.id);
  tree.finish();
}

TEST_CASE("a project that was restored takes what a relay leased after the backup, and judges it as ever") {
  const bool good = GENERATE(true, false);
  Tree tree;
  const TreeChild& child = tree.children[0];
  const io::Path store = tree.world.directory() / "store.sqlite", backup = tree.world.directory() / "backup";
  tree.world.restart([&] { std::filesystem::copy_file(store, backup); });
  const auto grant = tree.take(child);
  std::function<std::string(std::int64_t)> item;  // as the manager wants it
  if (!good) item = [](std::int64_t) { return std::string("wrong"); };
  const auto commit = tree.result(child, grant, grant.range, item);
  REQUIRE(tree.work(child, {commit}, 0).held);
  tree.world.restart([&] {
    for (const char* more : {"-wal", "-shm"}) std::filesystem::remove(store.string() + more);
    std::filesystem::rename(backup, store);
    must(storage::open_restored_store(tree.world.directory()));
  });

  std::vector<protocol::Acknowledgement> answers;
  for (int i = 0; i < 20 && answers.empty(); ++i) {
    tree.speak();
    tree.world.clock().advance(std::chrono::seconds{5});
    answers = Tree::answers(tree.work(child, {}, 0));
  }
  REQUIRE(answers.size() == 1);
  CHECK(answers.front().digest == commit.digest);
  CHECK(answers.front().status == (good ? CommitStatus::accepted : CommitStatus::refused));
  CHECK(answers.front().items_accepted == (good ? grant.range.size() : 0));
  CHECK_THAT(answers.front().reason, !Catch::Contains("never gave"));
  // What its lease ended with is nobody's here until it is leased again.
  tree.finish();
}

TEST_CASE("a result that a relay has lost is computed again, or brought again by its host") {
  Tree tree(1);
  const TreeChild& child = tree.children[0];
  const auto grant = tree.take(child);
  const auto commit = tree.result(child, grant, grant.range);
  REQUIRE(tree.work(child, {commit}, 0).held);
  const bool again = GENERATE(true, false);
  must(tree.operate(
      [](Transaction& tx) { return lose_result(tx, upstream_of(tx.model).owed.begin()->first); }));
  tree.open();
  if (again) CHECK(tree.work(child, {commit}, 0).held);
  tree.finish();
}

TEST_CASE("an answer of a former work key is asked for again with its result, which counts once") {
  Tree tree;
  const TreeChild& child = tree.children[0];
  const auto grant = tree.take(child);
  const auto commit = tree.result(child, grant, grant.range);
  REQUIRE(tree.work(child, {commit}, 0).held);
  tree.finish();
  const auto replace_key = [&](const Bytes& key) {
    must(tree.operate([&key](Transaction& tx) {
      upstream_of(tx.model).work_key = key;
      return Status{};
    }));
  };
  const auto accepted = [&] {
    return tree.look<std::int64_t>(
        [&](Transaction& tx) { return tx.model.hosts.at(child.id).row.items_accepted; });
  };
  const auto before = accepted();
  const auto answered = tree.work(child, {commit}, 0);
  REQUIRE(!answered.acknowledgements.empty());
  replace_key("a newer one");
  const auto later = tree.work(child, {commit}, 0);
  CHECK(later.acknowledgements.empty());
  REQUIRE(later.held);
  tree.world.clock().advance(std::chrono::minutes{1});
  tree.speak_all();
  replace_key(answered.acknowledgements.front().key);
  CHECK(!tree.work(child, {commit}, 0).acknowledgements.empty());
  CHECK(accepted() == before);
}

TEST_CASE("what came for a lease that was over goes up after a restart, too") {
  Tree tree;
  const TreeChild& child = tree.children[0];
  const auto grant = tree.take(child);
  (void)must(tree.world.change(tree.problem, Problems::Action::cancel));
  tree.world.clock().advance(std::chrono::minutes{2});
  tree.speak_all();
  REQUIRE(tree.work(child, {tree.result(child, grant, grant.range)}, 0).held);
  tree.open();
  tree.speak_all();
  tree.world.clock().advance(std::chrono::seconds{10});  // it is refused, and comes once more with its grant
  tree.speak_all();
  CHECK(Tree::answers(tree.work(child, {}, 0)).size() == 1);
}

TEST_CASE("a relay takes only what its host signed, of what it granted") {
  Tree tree;
  const TreeChild& child = tree.children[0];
  const TreeChild& other = tree.children[1];
  const auto grant = tree.take(child);
  const auto good = tree.result(child, grant, grant.range);
  auto none = good;
  none.delivery.reset();
  auto swapped = tree.result(other, grant, grant.range);
  auto forged = good;
  forged.delivery->signature = swapped.delivery->signature;
  auto changed = tree.result(child, grant, grant.range, [](std::int64_t) { return std::string("other"); });
  changed.delivery = good.delivery;
  auto by_another = good;  // signed well, by a key that is not this host's
  by_another.delivery = crypto::sign_statement(StatementType::delivery, good.delivery->payload, other.key);
  const auto large =
      tree.result(child, grant, grant.range, [](std::int64_t) { return std::string(65, 'x'); });
  auto spoiled = good;
  spoiled.data = io::compress("no segment");
  const auto held = [&](const std::vector<protocol::CommitRequest>& commits) {
    const auto reply = tree.work(child, commits, 0);
    CHECK(reply.acknowledgements.empty());
    return reply.held ? reply.held->size() : 0;
  };
  for (const auto& commit : {none, swapped, forged, changed, by_another, large, spoiled})
    CHECK(held({commit}) == 0);
  for (const auto& commit : {none, swapped, forged, changed, by_another, large})
    CHECK(held({good, commit}) == 1);
  tree.finish();
}

TEST_CASE("a relay takes a small result that its host signed, and asks for nothing else, in one operation") {
  Tree tree;
  const TreeChild& child = tree.children[0];
  const auto grant = tree.take(child);
  const auto operations = [&] { return tree.branch->kernel().writer().figures().operation_seconds.count(); };
  const auto commit = tree.result(child, grant, grant.range);
  for (int times = 0; times < 2; ++times) {
    const auto before = operations();
    const auto reply = tree.work(child, {commit}, 0);
    REQUIRE(reply.held);
    CHECK(reply.held->size() == 1);
    CHECK(operations() == before + 1);
    CHECK(tree.status().results == 1);
  }
  tree.open();
  CHECK(tree.status().results == 1);
  tree.finish();
}

TEST_CASE(
    "a relay that can store nothing gives its leases back, says so above, and is as good as gone below") {
  Tree tree(40, "rts");
  const auto warnings = [&] {
    return must(World::wait<protocol::ServerStatus>([&](auto done) {
             tree.world.service().overview().status(std::move(done), protocol::Role::own);
           }))
        .warnings;
  };
  const TreeChild& child = tree.children[0];
  const auto grant = tree.take(child);
  const auto had = tree.result(child, grant, {grant.range.begin, grant.range.begin + 1});
  REQUIRE(tree.work(child, {had}, 0).held);
  CHECK(tree.world.show(tree.problem).open_units == 1);
  CHECK(warnings().empty());

  const Configuration roomy = tree.configuration;
  tree.configuration.disk_reserve_megabytes = 1 << 20;
  tree.open();
  for (int i = 0; i < 5; ++i) {
    tree.speak_all();
    tree.world.clock().advance(std::chrono::minutes{1});
  }
  CHECK(tree.world.show(tree.problem).open_units == 0);
  CHECK(tree.world.show(tree.problem).accepted == 1);  // what it had went up
  const auto told = warnings();
  REQUIRE(told.size() == 1);
  CHECK(says(told[0], "the relay lab"));
  CHECK(says(told[0], "nearly full"));
  auto answer = tree.ask(child);
  CHECK(answer.get().error().kind == ErrorKind::unavailable);
  CHECK(World::wait<protocol::HeartbeatReply>(
            [&](auto done) { tree.branch->work().heartbeat(child.id, {}, std::move(done)); })
            .error()
            .kind == ErrorKind::unavailable);
  // A host beside it computes what it gave back.
  const TestHost direct = tree.world.add_host("direct");
  const auto taken = tree.world.grants(direct.id).front();
  CHECK(must(tree.world.commit(direct.id, World::results(taken.unit, taken.range))).status ==
        CommitStatus::accepted);

  tree.configuration = roomy;
  tree.open();
  tree.speak_all();
  CHECK(warnings().empty());
  tree.finish();
}

TEST_CASE("what hosts under a relay measured of themselves is known above, also after a restart") {
  Tree tree;
  const TreeChild& child = tree.children[0];
  const auto known = [&] {
    return tree.world.look<storage::HostRow>(
        [&](Transaction& tx) { return tx.model.hosts.at(child.id).row; });
  };
  auto request = tree.world.work_request(0);
  request.benchmark = protocol::Benchmark{1234, tree.world.clock().now() + std::chrono::seconds{1}};
  request.speeds = protocol::HostSpeeds{4000, 1e9, 2e6, 1e6};
  (void)must(tree.ask(child, request).get());
  tree.speak_all();
  CHECK(known().mflops == 1234);
  CHECK(known().speeds.download_bytes_per_second == 2e6);
  // Links are measured all the time: told once a minute at most.
  request.speeds->upload_bytes_per_second = 3e6;
  (void)must(tree.ask(child, request).get());
  tree.speak_all();
  CHECK(known().speeds.upload_bytes_per_second == 1e6);
  tree.world.clock().advance(std::chrono::seconds{61});
  tree.speak_all();
  CHECK(known().speeds.upload_bytes_per_second == 3e6);
  // Of a host that is not under it a relay can say nothing.
  const TestHost direct = tree.world.add_host("direct");
  auto lie = tree.world.work_request(0);
  lie.measured = {protocol::MeasuredHost{direct.id, protocol::Benchmark{1e9, tree.world.clock().now()}, {}}};
  (void)must(tree.world.work(tree.relay, lie));
  CHECK(tree.world.look<double>([&](Transaction& tx) { return tx.model.hosts.at(direct.id).row.mflops; }) !=
        1e9);
}
