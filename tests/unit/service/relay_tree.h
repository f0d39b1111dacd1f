// A relay: a Service with a parent, which is another Service here, and hosts under it. What goes between the
// two is carried as the uplink does, in process.
#pragma once

#include <atomic>
#include <future>
#include <memory>
#include <thread>

#include "server/relay/leases/upstream_failures.h"
#include "server/relay/leases/upstream_message.h"
#include "server/relay/leases/upstream_results.h"
#include "server/service/core/departures.h"
#include "server/service/core/joined.h"
#include "server/service/core/put_out.h"
#include "server/service/work/life_cycle.h"
#include "shared/crypto/relay_chain.h"
#include "shared/io/compression.h"
#include "tests/unit/service/relay_enrolment.h"

namespace gleaner::service::testing {

struct TestParent final : Parent {
  protocol::SignedStatement document, word;
  protocol::SignedStatement project() override { return document; }
  protocol::SignedStatement certificate() override { return word; }
  std::string place() override { return "the project"; }
  Timestamp heard_at() override { return {}; }
  Result<protocol::EnrolmentNonce> nonce() override { return away(); }
  Result<protocol::RelayHostReply> join(const protocol::EnrolRequest&) override { return away(); }
  // On a thread of the relay's, where no test may check anything.
  Status left(HostId host) override {
    Service* const project = hears_of_left;
    if (project == nullptr) return away();
    const auto done = std::make_shared<std::promise<Status>>();
    project->relays().leave(relay, host, [done](Status status) { done->set_value(std::move(status)); });
    return done->get_future().get();
  }
  HostId relay;  // before `hears_of_left`, which is null or the project's server
  std::atomic<Service*> hears_of_left = nullptr;
  Result<protocol::SignedStatement> certificate_of(HostId) override { return away(); }
  static Error away() { return {ErrorKind::unavailable, "not in this test"}; }
};

struct TreeChild {
  HostId id;
  crypto::PrivateKey key;
};

// A project's server, and a relay under it with its hosts.
class Tree {
 public:
  World world;
  Computer lab{"lab"};
  ProjectSecrets secrets{{}, {}, lab.key, {}, {}, {}, {}, {}, {}, {}};
  HostId relay;
  std::vector<TreeChild> children;
  ProblemId problem;
  std::unique_ptr<Service> branch;
  bool reachable = true;
  std::vector<Status> told;     // what the project said to failures
  Configuration configuration;  // the relay's, as of its next opening

  explicit Tree(int items = 40, const std::string& strategy = "static,mode=paper", int hosts = 2) {
    parent_.document = world.service().enrolment().project();
    const auto document = testing::document(world);
    const auto reply = join_as_relay(world, lab, 9);
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
    branch = must(
        Service::open({ProjectDirectory(directory_.path()), configuration, relay, make_leased_items}, secrets,
                      {io::real_files(), io::real_processes(), world.clock(), nullptr, &parent_},
                      must(storage::open_sqlite_store(directory_.path(), storage::OpenCheck::none))));
  }
  // At the project, and here under the same number.
  void add_child(const std::string& name) {
    Computer computer{name};
    const auto request = passed_on(world, computer, relay);
    const HostId id = must(join(world, relay, request)).host;
    must(operate([&](Transaction& tx) {
      storage::HostRow row;
      fill(row, request, tx.now);
      row.id = id;
      row.own = true;
      row.token_digest = crypto::random_secret(32);
      return store_joined(tx, row, nullptr);
    }));
    children.push_back({id, std::move(computer.key)});
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
    const Status room = branch->kernel().can_store();
    must(operate([&](Transaction& tx) {
      note_unable(upstream_of(tx.model), room.ok() ? std::string() : room.error().message);
      return next_message(tx, next);
    }));
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
      const auto& result = message.results[i];
      REQUIRE(result.in_store);
      const auto stored = must(branch->kernel().store().segment_bytes(result.segment));
      if (result.packed)
        REQUIRE(must(io::decompress(*result.packed, limits::kept_segment_bytes_max)) == stored);
      message.request.commits[i].data = result.packed ? *result.packed : io::compress(stored);
    }
    const auto reply = must(world.work(relay, message.request));
    const auto leases = must(read_leases(reply));
    std::vector<LeasedStage> stages;
    for (const auto& lease : leases) stages.push_back(look_up(lease.grant));
    std::vector<HostId> gone;
    must(operate([&](Transaction& tx) -> Status {
      TRY(take_reply(tx, message, reply, leases, stages));
      return reply.put_out ? take_put_out(tx, *reply.put_out, gone) : Status{};
    }));
    for (const HostId host : gone) branch->subtree().departed(host);
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
  Answer ask(const TreeChild& child, const protocol::WorkRequest& request,
             const std::function<void()>& rests = {}) {
    auto promise = std::make_shared<std::promise<Result<protocol::WorkReply>>>();
    branch->work().work(
        child.id, request,
        [promise](Result<protocol::WorkReply> reply) { promise->set_value(std::move(reply)); }, rests);
    return promise->get_future();
  }
  Answer ask(const TreeChild& child) { return ask(child, world.work_request()); }
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
  protocol::WorkReply work(const TreeChild& child, std::vector<protocol::CommitRequest> commits = {},
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
  protocol::Grant granted(const protocol::WorkReply& reply, const TreeChild& child) {
    REQUIRE(reply.grants.size() == 1);
    REQUIRE(reply.leases);
    REQUIRE(reply.leases->size() == 1);
    const auto trust = must(
        crypto::check_project(parent_.document, crypto::fingerprint(secrets.root_key), world.clock().now()));
    return must(crypto::check_relayed_grant(reply.grants.front(), reply.leases->front(), trust, child.id,
                                            world.clock().now()));
  }
  // A unit for that child, which its relay may have to ask for first.
  protocol::Grant take(const TreeChild& child) {
    auto reply = work(child);
    if (reply.grants.empty()) {
      speak_all();
      reply = work(child);
    }
    return granted(reply, child);
  }
  protocol::CommitRequest result(const TreeChild& child, const protocol::Grant& grant, Range range,
                                 const std::function<std::string(std::int64_t)>& item = {}) const {
    auto commit = World::results(grant.unit, range, range.end == grant.range.end, item);
    const protocol::Delivery delivery{secrets.project, child.id,     grant.unit,    grant.problem,
                                      grant.stage,     commit.range, commit.digest, commit.bytes};
    commit.delivery =
        crypto::sign_statement(protocol::StatementType::delivery, protocol::encode(delivery), child.key);
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
  void fail(const TreeChild& child, const protocol::Grant& grant, std::int64_t item) {
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
    report.statement =
        crypto::sign_statement(protocol::StatementType::failure, protocol::encode(failure), child.key);
    must(World::wait_done([&](auto done) { branch->work().failure(child.id, report, std::move(done)); }));
  }
  std::int64_t failures_of(const TreeChild& child) {
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
  // From now on the project hears who has left.
  void hear_of_those_that_left() {
    parent_.relay = relay;
    parent_.hears_of_left = &world.service();
  }
  // As the ticker does every ten minutes.
  void tidy() {
    branch->problems().remove_old();
    must(operate([](Transaction&) { return Status{}; }));
  }
  // Until the project has all of it.
  void finish() {
    for (int round = 0; round < 200 && world.show(problem).accepted < world.show(problem).items; ++round) {
      for (const TreeChild& child : children) {
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

}  // namespace gleaner::service::testing
