// A relay: a Service with a parent, which is another Service here. What it leases it grants on, what its
// hosts deliver it holds until the project has answered.
#include "server/service/upstream_message.h"

#include <thread>

#include "server/service/joined.h"
#include "server/service/life_cycle.h"
#include "server/service/upstream_failures.h"
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
  std::vector<Status> told;     // what the project said to failures
  Configuration configuration;  // the relay's, as of its next opening

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
        must(Service::open({ProjectDirectory(directory_.path()), configuration, relay}, secrets,
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
    if (!next.failures.empty()) tell(std::move(next.failures));
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
    branch->work().serve_waiting();
    return true;
  }
  void tell(std::vector<protocol::FailureReport> failures) {
    if (!reachable) failures.clear();
    for (const auto& report : failures)
      told.push_back(World::wait_done(
          [&](auto done) { world.service().work().failure(relay, report, std::move(done)); }));
    must(operate([&](Transaction& tx) {
      failures_told(tx, failures, reachable ? tx.now : tx.now + std::chrono::seconds{5});
      return Status{};
    }));
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
  using Answer = std::future<Result<protocol::WorkReply>>;
  // Its answer, for which it may have to wait.
  Answer ask(const Child& child, const protocol::WorkRequest& request,
             const std::function<void()>& rests = {}) {
    auto promise = std::make_shared<std::promise<Result<protocol::WorkReply>>>();
    branch->work().work(
        child.id, request,
        [promise](Result<protocol::WorkReply> reply) { promise->set_value(std::move(reply)); }, rests);
    return promise->get_future();
  }
  Answer ask(const Child& child) { return ask(child, world.work_request()); }
  static bool is_answered(const Answer& answer) {
    return answer.wait_for(std::chrono::seconds{0}) == std::future_status::ready;
  }
  static protocol::WorkReply answered(Answer& answer) {
    REQUIRE(answer.wait_for(std::chrono::seconds{60}) == std::future_status::ready);
    return must(answer.get());
  }
  // Until so many wait.
  void wait_for(std::size_t waiting) {
    for (int i = 0; i < 60'000 && branch->work().waiting() != waiting; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
    REQUIRE(branch->work().waiting() == waiting);
  }
  // At once: if it would have to wait, it asks for nothing any more.
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
    auto answer = ask(child, request);
    while (answer.wait_for(std::chrono::milliseconds{1}) != std::future_status::ready)
      if (branch->work().waiting() > 0) static_cast<void>(ask(child, world.work_request(0)).get());
    return must(answer.get());
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
  // Of the relay's model.
  template <typename T>
  T look(const std::function<T(Transaction&)>& read) {
    T value{};
    must(operate([&](Transaction& tx) {
      value = read(tx);
      return Status{};
    }));
    return value;
  }
  // Its kernel failed with that item, as it says itself.
  void fail(const Child& child, const protocol::Grant& grant, std::int64_t item) {
    const protocol::Failure failure{secrets.project,
                                    child.id,
                                    grant.unit,
                                    grant.problem,
                                    grant.stage,
                                    protocol::FailureKind::kernel_error,
                                    item,
                                    "no",
                                    world.clock().now()};
    protocol::FailureReport report{grant.unit, failure.kind, item, failure.message};
    report.statement = crypto::sign_statement(StatementType::failure, protocol::encode(failure), child.key);
    must(World::wait_done([&](auto done) { branch->work().failure(child.id, report, std::move(done)); }));
  }
  std::int64_t failures_of(const Child& child) {
    return world.look<std::int64_t>(
        [&](Transaction& tx) { return tx.model.hosts.at(child.id).row.health.failures; });
  }
  std::size_t failures_waiting() {
    return look<std::size_t>([](Transaction& tx) { return tx.model.failures_below.size(); });
  }
  bool knows_problem() {
    return look<bool>([this](Transaction& tx) { return tx.model.problems.contains(problem); });
  }
  protocol::RelayStatus status() {
    return must(
        World::wait<protocol::RelayStatus>([&](auto done) { branch->relays().status(std::move(done)); }));
  }
  // As the ticker does every ten minutes.
  void tidy() {
    branch->problems().remove_old();
    must(operate([](Transaction&) { return Status{}; }));
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

TEST_CASE("a kernel that fails under a relay counts at the project, for the host whose it is") {
  Tree tree;
  const Child& child = tree.children[0];
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
  const Child &child = tree.children[0], &other = tree.children[1];
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
  const Child& child = tree.children[0];
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
  for (const Child& each : tree.children)
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
  const Child& child = tree.children[0];
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
  const Child& child = tree.children[0];
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
// ---- Who waits

TEST_CASE("a host that finds nothing waits for the lease that its asking brings") {
  Tree tree;
  const Child& child = tree.children[0];
  std::atomic<int> rests = 0;
  auto answer = tree.ask(child, tree.world.work_request(), [&] { ++rests; });
  tree.wait_for(1);
  CHECK(rests == 1);  // its place is free meanwhile
  CHECK(!Tree::is_answered(answer));
  CHECK(tree.speak());
  const auto reply = Tree::answered(answer);
  CHECK(tree.granted(reply, child).host == child.id);
  CHECK(tree.branch->work().waiting() == 0);
  // Who holds something asks for more without waiting: its reports must not come late.
  tree.reachable = false;
  const auto grant = tree.granted(reply, child);
  protocol::WorkRequest more = tree.world.work_request(2);
  more.units.emplace_back().unit = grant.unit;
  more.units.back().finished = grant.range.begin;
  std::optional<protocol::WorkReply> last;
  for (int i = 0; i < 100 && (!last || !last->grants.empty()); ++i) {
    auto asked = tree.ask(child, more);
    last = Tree::answered(asked);
    for (const auto& statement : last->grants) {
      const auto got = must(protocol::decode<protocol::RelayGrant>(statement.payload));
      more.units.emplace_back().unit = got.unit;
      more.units.back().finished = got.range.begin;
    }
  }
  REQUIRE(last);
  CHECK(last->grants.empty());
  CHECK(last->retry_after_seconds > 0);
}

TEST_CASE("of those that wait, the relay's rule says who is served first") {
  const std::string rule = GENERATE("fifo", "bc", "geo", "otf");
  CAPTURE(rule);
  Tree tree(400);
  tree.configuration.service_order = rule;
  tree.open();
  const Child &slow = tree.children[0], &fast = tree.children[1];
  auto request = tree.world.work_request();
  request.speeds = protocol::HostSpeeds{0, 0, 1e5, 1e5};
  auto first = tree.ask(slow, request);
  tree.wait_for(1);
  request.speeds = protocol::HostSpeeds{0, 0, 1e7, 1e7};
  auto second = tree.ask(fast, request);
  tree.wait_for(2);
  for (int i = 0; i < 20 && !(Tree::is_answered(first) && Tree::is_answered(second)); ++i) {
    static_cast<void>(tree.speak());
    must(tree.operate([](Transaction&) { return Status{}; }));
    tree.world.clock().advance(std::chrono::milliseconds{500});
  }
  const auto older = tree.granted(Tree::answered(first), slow);
  const auto better = tree.granted(Tree::answered(second), fast);
  // Units are numbered as they are handed out.
  if (rule == "fifo") CHECK(older.unit < better.unit);
  if (rule == "bc" || rule == "geo") CHECK(better.unit < older.unit);
}

TEST_CASE("nobody waits longer than fifteen seconds, nor for an older request, nor for a relay that stops") {
  Tree tree;
  tree.reachable = false;
  const Child &child = tree.children[0], &other = tree.children[1];
  auto answer = tree.ask(child);
  tree.wait_for(1);
  tree.world.clock().advance(std::chrono::seconds{14});
  tree.branch->work().serve_waiting();
  must(tree.operate([](Transaction&) { return Status{}; }));
  tree.wait_for(1);
  CHECK(!Tree::is_answered(answer));
  tree.world.clock().advance(std::chrono::seconds{1});
  tree.branch->work().serve_waiting();
  const auto reply = Tree::answered(answer);
  CHECK(reply.grants.empty());
  CHECK(reply.retry_after_seconds > 0);
  CHECK(!reply.reason.empty());

  auto older = tree.ask(child);
  tree.wait_for(1);
  auto newer = tree.ask(child);
  CHECK(Tree::answered(older).grants.empty());
  tree.wait_for(1);
  CHECK(!Tree::is_answered(newer));

  tree.branch->work().stop_waiting();
  CHECK(Tree::answered(newer).grants.empty());
  auto late = tree.ask(other);
  CHECK(Tree::answered(late).grants.empty());
}

TEST_CASE("so many hosts may wait at a relay; more are answered at once") {
  WaitingRequests waiting;
  for (std::size_t i = 1; i <= WaitingRequests::most; ++i) {
    WaitingRequest request;
    request.host = HostId{static_cast<std::int64_t>(i)};
    CHECK(!waiting.keep(std::move(request)));
  }
  WaitingRequest more;
  more.host = HostId{1'000'000};
  const auto refused = waiting.keep(std::move(more));
  REQUIRE(refused);
  CHECK(refused->host == HostId{1'000'000});
  const auto all = waiting.take();
  REQUIRE(all.size() == WaitingRequests::most);
  CHECK(all.front().host == HostId{1});
  CHECK(waiting.size() == 0);
}
