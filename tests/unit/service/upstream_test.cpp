// A relay: a Service with a parent, which is another Service here. What it leases it grants on, what its
// hosts deliver it holds until the project has answered.
#include "server/service/upstream_message.h"

#include "server/service/joined.h"
#include "server/service/upstream_results.h"
#include "shared/crypto/relay_chain.h"
#include "shared/io/compression.h"
#include "shared/protocol/codec.h"
#include "shared/protocol/join_code.h"
#include "tests/unit/service/world.h"

using namespace gleaner;
using namespace gleaner::service;
using namespace gleaner::service::testing;
using protocol::CommitStatus;
using protocol::StatementType;

namespace {

constexpr const char* machine = "192.0.2.1";

struct TestParent final : Parent {
  protocol::SignedStatement document, word;
  protocol::SignedStatement project() override { return document; }
  protocol::SignedStatement certificate() override { return word; }
  std::string place() override { return "the project"; }
  Timestamp heard_at() override { return {}; }
  Result<protocol::RelayHostReply> join(const protocol::EnrolRequest&) override { return away(); }
  Status left(HostId) override { return away(); }
  Result<protocol::SignedStatement> certificate_of(HostId) override { return away(); }
  static Error away() { return {ErrorKind::unavailable, "not in this test"}; }
};

struct Child {
  HostId id;
  crypto::PrivateKey key;
};

// A project's server, and a relay under it with its hosts.
class Tree {
 public:
  World world;
  crypto::PrivateKey key = crypto::PrivateKey::generate();
  ProjectSecrets secrets{{}, {}, key, {}, {}, {}, {}, {}, {}, {}};
  HostId relay;
  std::vector<Child> children;
  ProblemId problem;
  std::unique_ptr<Service> branch;
  bool reachable = true;

  explicit Tree(int items = 40, const std::string& strategy = "static,mode=paper", int hosts = 2) {
    parent_.document = world.service().enrolment().project();
    const auto document = must(protocol::decode<protocol::ProjectDocument>(parent_.document.payload));
    world.service().overview().set_listening_port(8443);
    const auto made = must(World::wait<protocol::MadeCode>(
        [&](auto done) { world.service().relays().allow({.name = "lab", .children = 9}, std::move(done)); }));
    auto request = computer("lab", key);
    request.secret = must(protocol::parse_join_code(made.join_code)).enrolment_secret;
    request.relay = protocol::RelayRequest{crypto::sha256_hex("tls")};
    const auto reply = must(world.enrol(request));
    relay = reply.host;
    parent_.word = *reply.certificate;
    secrets.project = document.project;
    secrets.root_key = document.root_key;
    secrets.work_certificate = document.work_certificate;
    secrets.enrolment_secret = crypto::random_secret(16);
    secrets.admin_token_digest = crypto::random_secret(32);
    open();
    for (int i = 0; i < hosts; ++i) add_child("host " + std::to_string(i));
    world.add_application();
    problem = world.add_problem(items, "", strategy);
  }
  void open() {
    branch.reset();
    branch =
        must(Service::open({ProjectDirectory(directory_.path()), Configuration{}, relay}, secrets,
                           {io::real_files(), io::real_processes(), world.clock(), nullptr, &parent_},
                           must(storage::open_sqlite_store(directory_.path(), storage::OpenCheck::none))));
  }
  protocol::EnrolRequest computer(const std::string& name, const crypto::PrivateKey& own) const {
    auto request = world.enrol_request(name);
    request.host_key = own.public_key();
    request.machine = crypto::sha256_hex(name);
    return request;
  }
  // At the project, and here under the same number.
  void add_child(const std::string& name) {
    Child child{{}, crypto::PrivateKey::generate()};
    auto request = computer(name, child.key);
    request.secret.clear();
    request.proof =
        crypto::sign_statement(StatementType::enrolment,
                               protocol::encode(protocol::Enrolment{secrets.project, relay, request.host_key,
                                                                    request.machine, world.clock().now()}),
                               child.key);
    child.id = must(World::wait<protocol::RelayHostReply>([&](auto done) {
                 world.service().relays().join(relay, request, machine, std::move(done));
               })).host;
    must(operate([&](Transaction& tx) {
      storage::HostRow row;
      fill(row, request, tx.now);
      row.id = child.id;
      row.token_digest = crypto::random_secret(32);
      return store_joined(tx, row, nullptr);
    }));
    children.push_back(std::move(child));
  }
  Status operate(const Operation& operation) {
    return World::wait_done([&](StatusDone done) {
      branch->kernel().writer().submit(
          operation, [done](Status status) -> Writer::Answer { return [done, status] { done(status); }; });
    });
  }

  // One message of the relay to its parent and back, as the uplink carries it; false: it had nothing to say.
  bool speak() {
    NextMessage next;
    must(operate([&](Transaction& tx) { return next_message(tx, next); }));
    if (!next.message) return false;
    UpMessage& message = *next.message;
    if (!reachable) {
      must(operate([&](Transaction& tx) {
        take_silence(tx, message, "the cable is out", tx.now + std::chrono::seconds{5});
        return Status{};
      }));
      return true;
    }
    for (std::size_t i = 0; i < message.results.size(); ++i) {
      REQUIRE(message.results[i].in_store);
      message.request.commits[i].data =
          io::compress(must(branch->kernel().store().segment_bytes(message.results[i].segment)));
    }
    const auto reply = must(world.work(relay, message.request));
    const auto leases = must(read_leases(reply));
    std::vector<LeasedStage> stages;
    for (const auto& lease : leases) stages.push_back(look_up(lease.grant));
    must(operate([&](Transaction& tx) { return take_reply(tx, message, reply, leases, stages); }));
    return true;
  }
  void speak_all() {
    for (int i = 0; i < 20 && speak(); ++i) continue;
  }
  LeasedStage look_up(const protocol::Grant& grant) {
    LeasedStage stage;
    stage.description = must(World::wait<protocol::StageDescription>([&](auto done) {
      world.service().stages().describe(relay, grant.problem, grant.stage, std::move(done));
    }));
    stage.manifest = must(bundle::parse_manifest(stage.description.manifest, "manifest"));
    return stage;
  }
  protocol::WorkReply work(const Child& child, std::vector<protocol::CommitRequest> commits = {},
                           int slots = 1) {
    auto request = world.work_request(slots);
    for (const auto& commit : commits) {
      protocol::UnitReport report;
      report.unit = commit.unit;
      report.finished = commit.range.end;
      request.units.push_back(report);
    }
    request.commits = std::move(commits);
    return must(World::wait<protocol::WorkReply>(
        [&](auto done) { branch->work().work(child.id, request, std::move(done)); }));
  }
  // What the reply grants, checked as a client checks it.
  protocol::Grant granted(const protocol::WorkReply& reply, const Child& child) {
    REQUIRE(reply.grants.size() == 1);
    REQUIRE(reply.leases);
    REQUIRE(reply.leases->size() == 1);
    const auto trust = must(
        crypto::check_project(parent_.document, crypto::fingerprint(secrets.root_key), world.clock().now()));
    return must(crypto::check_relayed_grant(reply.grants.front(), reply.leases->front(), trust, child.id,
                                            world.clock().now()));
  }
  // A unit for that child, which its relay may have to ask for first.
  protocol::Grant take(const Child& child) {
    auto reply = work(child);
    if (reply.grants.empty()) {
      speak_all();
      reply = work(child);
    }
    return granted(reply, child);
  }
  protocol::CommitRequest result(const Child& child, const protocol::Grant& grant, Range range,
                                 const std::function<std::string(std::int64_t)>& item = {}) const {
    auto commit = World::results(grant.unit, range, range.end == grant.range.end, item);
    const protocol::Delivery delivery{secrets.project, child.id,     grant.unit,    grant.problem,
                                      grant.stage,     commit.range, commit.digest, commit.bytes};
    commit.delivery = crypto::sign_statement(StatementType::delivery, protocol::encode(delivery), child.key);
    return commit;
  }
  static std::vector<protocol::Acknowledgement> answers(const protocol::WorkReply& reply) {
    std::vector<protocol::Acknowledgement> all;
    for (const auto& statement : reply.acknowledgements)
      all.push_back(must(protocol::decode<protocol::Acknowledgement>(statement.payload)));
    return all;
  }
  // Until the project has all of it.
  void finish() {
    for (int round = 0; round < 200 && world.show(problem).accepted < world.show(problem).items; ++round) {
      for (const Child& child : children) {
        auto reply = work(child);
        if (reply.grants.empty()) continue;
        const auto grant = granted(reply, child);
        static_cast<void>(work(child, {result(child, grant, grant.range)}, 0));
      }
      speak_all();
      world.clock().advance(std::chrono::seconds{10});
    }
    CHECK(world.show(problem).accepted == world.show(problem).items);
  }

 private:
  gleaner::testing::TemporaryDirectory directory_;
  TestParent parent_;
};

}  // namespace

TEST_CASE("what a relay leases its hosts compute, and the project answers each of them by name") {
  Tree tree;
  const Child& child = tree.children[0];
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

TEST_CASE("a relay that is ended at any instant loses nothing") {
  Tree tree(60, "rts", 3);
  int ends = 0;
  for (int round = 0; round < 200 && tree.world.show(tree.problem).accepted < 60; ++round) {
    for (const Child& child : tree.children) {
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
  const Child& child = tree.children[0];
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
  const Child& child = tree.children[0];
  const auto grant = tree.take(child);
  const auto bad = tree.result(child, grant, grant.range, [](std::int64_t) { return std::string("wrong"); });
  REQUIRE(tree.work(child, {bad}, 0).held);
  std::vector<protocol::Acknowledgement> answers;
  for (int i = 0; i < 60 && answers.empty(); ++i) {
    tree.speak_all();
    tree.world.clock().advance(std::chrono::minutes{1});
    answers = Tree::answers(tree.work(child, {}, 0));
  }
  REQUIRE(answers.size() == 1);
  CHECK(answers.front().status == CommitStatus::refused);
  CHECK(answers.front().host == child.id);
  tree.finish();
}

TEST_CASE("a result that a relay has lost is computed again, or brought again by its host") {
  Tree tree(1);
  const Child& child = tree.children[0];
  const auto grant = tree.take(child);
  const auto commit = tree.result(child, grant, grant.range);
  REQUIRE(tree.work(child, {commit}, 0).held);
  const bool again = GENERATE(true, false);
  must(tree.operate([](Transaction& tx) { return lose_result(tx, tx.model.upstream->owed.begin()->first); }));
  tree.open();
  if (again) CHECK(tree.work(child, {commit}, 0).held);
  tree.finish();
}

TEST_CASE("a relay takes only what its host signed, of what it granted") {
  Tree tree;
  const Child& child = tree.children[0];
  const Child& other = tree.children[1];
  const auto grant = tree.take(child);
  const auto good = tree.result(child, grant, grant.range);
  auto none = good;
  none.delivery.reset();
  auto swapped = tree.result(other, grant, grant.range);
  auto forged = good;
  forged.delivery->signature = swapped.delivery->signature;
  auto changed = tree.result(child, grant, grant.range, [](std::int64_t) { return std::string("other"); });
  changed.delivery = good.delivery;
  for (const auto& commit : {none, swapped, forged, changed}) {
    const auto reply = tree.work(child, {commit}, 0);
    CHECK(!reply.held);
    CHECK(reply.acknowledgements.empty());
  }
  CHECK(tree.work(child, {good}, 0).held);
  tree.finish();
}
