// What a relay asks, reports and delivers for the hosts under it: they are credited and answered by name, and
// a relay that lies about them is refused.
#include "server/service/operator/fleet_now.h"
#include "tests/unit/service/relay_enrolment.h"

using namespace gleaner;
using namespace gleaner::service;
using namespace gleaner::service::testing;
using protocol::CommitStatus;
using protocol::StatementType;

namespace {

struct Child {
  HostId id;
  crypto::PrivateKey key;
};

// A relay with two hosts, and what it was leased of a problem.
struct Lab {
  World world;
  Computer computer{"lab"};
  std::string project;
  HostId relay;
  std::vector<Child> children;
  ProblemId problem;

  explicit Lab(int items = 40) {
    project = document(world).project;
    relay = join_as_relay(world, computer, 9).host;
    for (const char* name : {"a", "b"}) add_child(name);
    world.add_application();
    problem = world.add_problem(items, "", "static,mode=paper");
  }
  void add_child(const std::string& name) {
    Computer child{name};
    const HostId id = must(join(world, relay, passed_on(world, child, relay))).host;
    children.push_back({id, std::move(child.key)});
  }
  [[nodiscard]] protocol::WorkRequest asks(double rate = 2, int slots = 4) const {
    auto request = world.work_request();
    request.relay = protocol::RelayOffer{4000, rate, slots};
    return request;
  }
  protocol::Grant lease() {
    const auto reply = must(world.work(relay, asks()));
    REQUIRE(reply.grants.size() == 1);
    return must(protocol::decode<protocol::Grant>(reply.grants.front().payload));
  }
  protocol::Delivery delivery(const Child& child, const protocol::CommitRequest& commit) const {
    return {project, child.id, UnitId{7}, problem, 0, commit.range, commit.digest, commit.bytes};
  }
  static void sign(protocol::CommitRequest& commit, const protocol::Delivery& said,
                   const crypto::PrivateKey& by) {
    commit.delivery = crypto::sign_statement(StatementType::delivery, protocol::encode(said), by);
  }
  // What that child computed, as the relay delivers it.
  protocol::CommitRequest result(const protocol::Grant& lease, Range range, const Child& child) const {
    auto commit = World::results(lease.unit, range);
    sign(commit, delivery(child, commit), child.key);
    return commit;
  }
  protocol::Acknowledgement commit(const protocol::CommitRequest& request) {
    return must(world.commit(relay, request));
  }
  protocol::HostInfo show(HostId host) {
    return must(World::wait<protocol::HostInfo>(
        [&](auto done) { world.service().hosts().show(host, std::move(done)); }));
  }
};

}  // namespace

TEST_CASE("a relay delivers any part of its lease, and who computed it is credited and answered by name") {
  Lab lab;
  const auto lease = lab.lease();
  REQUIRE(lease.range == Range{0, 40});
  const auto later = lab.result(lease, {20, 30}, lab.children[0]);
  const auto answer = lab.commit(later);
  CHECK(answer.status == CommitStatus::accepted);
  CHECK(answer.host == lab.children[0].id);
  CHECK(answer.unit == UnitId{7});
  CHECK(answer.range == Range{20, 30});
  CHECK(answer.digest == later.digest);
  CHECK(answer.items_accepted == 10);
  CHECK(lab.show(lab.children[0].id).items_accepted == 10);
  CHECK(lab.show(lab.relay).items_accepted == 0);
  // Sent again it is answered as before, after a restart, too.
  const auto same = [&](const protocol::Acknowledgement& again) {
    CHECK(again.status == CommitStatus::accepted);
    CHECK(again.host == answer.host);
    CHECK(again.unit == answer.unit);
    CHECK(again.items_accepted == 10);
    CHECK(lab.world.show(lab.problem).accepted == 10);
  };
  same(lab.commit(later));
  lab.world.restart();
  same(lab.commit(later));
  CHECK(lab.commit(lab.result(lease, {30, 40}, lab.children[1])).host == lab.children[1].id);
  CHECK(lab.commit(lab.world.uploaded(lab.result(lease, {0, 20}, lab.children[0]))).items_accepted == 20);
  lab.world.settle();
  CHECK(lab.world.show(lab.problem).state == protocol::ProblemState::finished);
  CHECK(lab.show(lab.children[0].id).items_accepted == 30);
}

TEST_CASE("a relay brings the results of many hosts with one request, a host as many as it may have") {
  Lab lab;
  auto request = lab.asks();
  request.commits.assign(limits::segments_per_request_max + 1,
                         lab.result(lab.lease(), {0, 10}, lab.children[0]));
  CHECK(must(lab.world.work(lab.relay, request)).acknowledgements.size() == request.commits.size());
  request.relay.reset();
  const TestHost host = lab.world.add_host("plain");
  const auto refused = lab.world.work(host.id, request);
  REQUIRE(!refused.ok());
  CHECK(refused.error().kind == ErrorKind::invalid);
  request.commits.pop_back();
  CHECK(lab.world.work(host.id, request).ok());
}

TEST_CASE("what a relay says that a host computed counts only if that host signed just that") {
  Lab lab;
  const auto lease = lab.lease();
  const Child& child = lab.children[0];
  const auto refuses = [&](const protocol::CommitRequest& request, const std::string& why) {
    const auto answer = lab.commit(request);
    CHECK(answer.status == CommitStatus::refused);
    INFO(answer.reason);
    CHECK(says(answer.reason, why));
    CHECK(lab.world.show(lab.problem).accepted == 0);
  };
  const auto plain = World::results(lease.unit, {20, 30});
  const auto with = [&](const std::function<void(protocol::Delivery&)>& change,
                        const crypto::PrivateKey& key) {
    auto request = plain;
    auto said = lab.delivery(child, request);
    change(said);
    Lab::sign(request, said, key);
    return request;
  };
  const auto nothing = [](protocol::Delivery&) {};
  refuses(with(nothing, lab.computer.key), "");
  refuses(with(nothing, lab.children[1].key), "");
  refuses(with([](auto& said) { said.range = {20, 31}; }, child.key), "of another result");
  refuses(with([](auto& said) { said.digest = std::string(64, 'a'); }, child.key), "of another result");
  refuses(with([](auto& said) { ++said.bytes; }, child.key), "of another result");
  refuses(with([](auto& said) { said.problem = ProblemId{2}; }, child.key), "of another problem");
  refuses(with([](auto& said) { said.stage = 1; }, child.key), "of another problem or stage");
  refuses(with([](auto& said) { said.project = std::string(64, '0'); }, child.key), "belongs to project");
  refuses(with([](auto& said) { said.host = HostId{99}; }, child.key), "is not one of this project's");
  auto swapped = World::results(lease.unit, {20, 30}, false, [](auto) { return "forged"; });
  swapped.delivery = with(nothing, child.key).delivery;
  refuses(swapped, "of another result");
  auto beyond = World::results(lease.unit, {35, 45});
  Lab::sign(beyond, lab.delivery(child, beyond), child.key);
  refuses(beyond, "");
  refuses(plain, "only results with a host's statement");  // its own it would be
  // Bytes that are not those of the digest were changed by the relay: the answer is not for the host.
  for (const Bytes& data : {*swapped.data, plain.data->substr(0, 5)}) {
    auto changed = with(nothing, child.key);
    changed.data = data;
    refuses(changed, "its ");
    CHECK(lab.commit(changed).host == lab.relay);
  }
  CHECK(lab.show(child.id).failures == 0);
  CHECK(lab.show(lab.relay).failures == 0);
  // Only a relay delivers for others.
  const TestHost stranger = lab.world.add_host("stranger");
  const auto answer = must(lab.world.commit(stranger.id, with(nothing, child.key)));
  CHECK(answer.status == CommitStatus::refused);
  CHECK(says(answer.reason, "only relays"));
}

TEST_CASE("a wrong result under a relay is its host's fault, and the relay's unit goes on") {
  Lab lab;
  const auto lease = lab.lease();
  auto wrong = World::results(lease.unit, {20, 21}, false, [](auto) { return "wrong"; });
  Lab::sign(wrong, lab.delivery(lab.children[1], wrong), lab.children[1].key);
  const auto answer = lab.commit(wrong);
  CHECK(answer.status == CommitStatus::refused);
  CHECK(answer.host == lab.children[1].id);
  CHECK(lab.commit(lab.result(lease, {20, 21}, lab.children[0])).status == CommitStatus::accepted);
  CHECK(lab.commit(lab.result(lease, {0, 20}, lab.children[0])).status == CommitStatus::accepted);
}

TEST_CASE("a relay's reports say how all its hosts stand, and it hears how the stage does") {
  Lab lab;
  const auto lease = lab.lease();
  protocol::HeartbeatRequest heartbeat;
  protocol::UnitReport report;
  report.unit = lease.unit;
  report.relay = protocol::RelayProgress{25, 100, 2, 4};
  heartbeat.units.push_back(report);
  const auto beat = [&](HostId host) {
    return must(World::wait<protocol::HeartbeatReply>(
        [&](auto done) { lab.world.service().work().heartbeat(host, heartbeat, std::move(done)); }));
  };
  const auto reply = beat(lab.relay);
  REQUIRE(reply.units.size() == 1);
  CHECK(reply.units.front().action == protocol::UnitAction::go_on);
  CHECK(reply.units.front().end == 40);
  REQUIRE(reply.stages);
  REQUIRE(reply.stages->size() == 1);
  CHECK(reply.stages->front().problem == lab.problem);
  CHECK(reply.stages->front().dry);
  // A host that says what only a relay says is not taken for one.
  const TestHost host = lab.world.add_host("host");
  CHECK_FALSE(beat(host.id).stages);
  auto request = lab.asks();
  request.units.clear();
  CHECK(must(lab.world.work(host.id, request)).stages == std::nullopt);
}

namespace {

protocol::Failure failure(Lab& lab, const Child& child, std::int64_t item) {
  lab.world.clock().advance(std::chrono::seconds{1});
  return {lab.project, child.id,    UnitId{7},
          lab.problem, 0,           protocol::FailureKind::kernel_crashed,
          item,        "signal 11", lab.world.clock().now()};
}

// As the host that says it signs it, and who holds the unit passes it up.
protocol::FailureReport report(UnitId unit, const protocol::Failure& said, const crypto::PrivateKey& by) {
  protocol::FailureReport report{unit, said.kind, said.item, said.message};
  report.statement = crypto::sign_statement(StatementType::failure, protocol::encode(said), by);
  return report;
}

Status tell(World& world, HostId holder, const protocol::FailureReport& report) {
  return World::wait_done(
      [&](StatusDone done) { world.service().work().failure(holder, report, std::move(done)); });
}

protocol::UnitAction order_for(Lab& lab, UnitId unit) {
  protocol::HeartbeatRequest heartbeat;
  protocol::UnitReport report;
  report.unit = unit;
  report.relay = protocol::RelayProgress{25, 100, 2, 4};
  heartbeat.units.push_back(report);
  return must(World::wait<protocol::HeartbeatReply>([&](auto done) {
           lab.world.service().work().heartbeat(lab.relay, heartbeat, std::move(done));
         }))
      .units.front()
      .action;
}

}  // namespace

TEST_CASE(
    "a failure under a relay counts against the host that says so, once, and the relay's unit goes on") {
  Lab lab;
  const auto lease = lab.lease();
  const Child& child = lab.children[0];
  const auto passed_up = report(lease.unit, failure(lab, child, 25), child.key);
  with_each_failure(lab.world, [&](World& world) { return tell(world, lab.relay, passed_up); });
  must(tell(lab.world, lab.relay, passed_up));  // its answer was lost
  CHECK(lab.show(child.id).failures == 1);
  CHECK(lab.show(lab.relay).failures == 0);
  CHECK(order_for(lab, lease.unit) == protocol::UnitAction::go_on);
  const auto told = lab.world.show(lab.problem).set_aside;
  REQUIRE(told.size() == 1);
  CHECK(says(told.front().message, "signal 11"));
  lab.world.restart();
  must(tell(lab.world, lab.relay, passed_up));
  CHECK(lab.show(child.id).failures == 1);
  must(tell(lab.world, lab.relay, report(lease.unit, failure(lab, child, 26), child.key)));
  CHECK(lab.show(child.id).failures == 2);
  CHECK(lab.commit(lab.result(lease, {20, 30}, lab.children[1])).status == CommitStatus::accepted);
  // What is its own is its own fault, and gives the unit back.
  must(tell(lab.world, lab.relay, {lease.unit, protocol::FailureKind::download_failed, 0, "no network"}));
  CHECK(lab.show(lab.relay).failures == 1);
  CHECK(order_for(lab, lease.unit) == protocol::UnitAction::cancel);
}

TEST_CASE("a relay cannot say for a host that its kernel failed, nor use what it said for anything else") {
  Lab lab;
  const auto lease = lab.lease();
  const Child& child = lab.children[0];
  const auto refused = [&](const std::function<void(protocol::Failure&)>& change,
                           const crypto::PrivateKey& by, const std::string& why) {
    auto said = failure(lab, child, 25);
    change(said);
    const auto answer = tell(lab.world, lab.relay, report(lease.unit, said, by));
    INFO(why);
    REQUIRE(!answer.ok());
    CHECK(answer.error().kind == ErrorKind::untrusted);
    INFO(answer.error().message);
    CHECK(says(answer.error().message, why));
  };
  const auto nothing = [](auto&) {};
  refused(nothing, lab.computer.key, "is not signed by host");
  refused(nothing, lab.children[1].key, "is not signed by host");
  refused([](auto& said) { said.host = HostId{99}; }, child.key, "is not signed by host 99");
  refused([](auto& said) { said.project = std::string(64, '0'); }, child.key, "belongs to project");
  refused([](auto& said) { said.problem = ProblemId{2}; }, child.key, "of another problem or stage");
  refused([](auto& said) { said.stage = 1; }, child.key, "of another problem or stage");
  refused([](auto& said) { said.item = 40; }, child.key, "an item that the unit does not have");
  refused([](auto& said) { said.at += std::chrono::hours{25}; }, child.key, "by its clock");
  refused([](auto& said) { said.at -= std::chrono::hours{25}; }, child.key, "by its clock");
  auto swapped = report(lease.unit, failure(lab, child, 25), child.key);
  swapped.statement->payload = protocol::encode(failure(lab, child, 26));
  CHECK(tell(lab.world, lab.relay, swapped).error().kind == ErrorKind::untrusted);
  swapped.statement = crypto::sign_statement(StatementType::delivery, swapped.statement->payload, child.key);
  CHECK(tell(lab.world, lab.relay, swapped).error().kind == ErrorKind::untrusted);
  CHECK(lab.show(child.id).failures == 0);
  CHECK(lab.show(lab.relay).failures == 0);
  CHECK(lab.world.show(lab.problem).set_aside.empty());
  // Nor can another host, of one that is not under it.
  const TestHost other = lab.world.add_host("other");
  const ProblemId second = lab.world.add_problem(40);
  const auto own = lab.world.grants(other.id).front();
  REQUIRE(own.problem == second);
  auto said = failure(lab, child, own.range.begin);
  said.problem = own.problem;
  CHECK(
      says(tell(lab.world, other.id, report(own.unit, said, child.key)).error().message, "is not under it"));
}

TEST_CASE(
    "an item that fails on hosts under a relay is set aside, which ends the relay's unit, and no more") {
  Lab lab;
  const auto lease = lab.lease();
  CHECK(lab.commit(lab.result(lease, {0, 5}, lab.children[0])).status == CommitStatus::accepted);
  CHECK(lab.commit(lab.result(lease, {5, 10}, lab.children[1])).status == CommitStatus::accepted);
  must(
      tell(lab.world, lab.relay, report(lease.unit, failure(lab, lab.children[0], 25), lab.children[0].key)));
  CHECK(order_for(lab, lease.unit) == protocol::UnitAction::go_on);
  const auto second = report(lease.unit, failure(lab, lab.children[1], 25), lab.children[1].key);
  must(tell(lab.world, lab.relay, second));
  CHECK(order_for(lab, lease.unit) == protocol::UnitAction::cancel);
  CHECK(lab.show(lab.children[1].id).failures == 1);
  // What they had computed by then is of use.
  CHECK(lab.commit(lab.result(lease, {30, 40}, lab.children[0])).status == CommitStatus::accepted);
  CHECK(lab.world.show(lab.problem).accepted == 20);
  CHECK(lab.world.look<bool>([&lab](Transaction& tx) {
    const auto& ledger = tx.model.problems.at(lab.problem).stage->view().ledger();
    return ledger.set_aside().contains(25) && ledger.free().contains(10) && ledger.free().contains(29);
  }));
}

TEST_CASE("hosts under a relay count as hosts, and the relay speaks for them") {
  Lab lab;
  const auto fleet = [&] {
    return lab.world.look<FleetNow>([](Transaction& tx) { return fleet_now(tx.model, tx.now); });
  };
  const auto before = fleet();
  CHECK(before.joined == 2);
  CHECK(before.online == 2);
  CHECK(before.busy == 0);
  (void)lab.lease();
  CHECK(fleet().busy == 2);
  CHECK(fleet().cores == 2 * lab.show(lab.children[0].id).cores);
  lab.world.clock().advance(std::chrono::minutes{4});
  (void)must(lab.world.work(lab.relay, lab.asks()));
  lab.world.clock().advance(std::chrono::minutes{4});
  CHECK(fleet().online == 2);
  lab.world.clock().advance(std::chrono::minutes{2});
  CHECK(fleet().online == 0);

  service::HostQuery query;
  query.relay = lab.relay;
  const auto page = must(World::wait<protocol::HostPage>(
      [&](auto done) { lab.world.service().views().host_pages().page(query, std::move(done)); }));
  REQUIRE(page.hosts.size() == 2);
  CHECK(page.hosts.front().id == lab.children[0].id);
  CHECK(page.hosts.front().relay == lab.relay);
}
