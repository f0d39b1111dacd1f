// What a relay asks, reports and delivers for the hosts under it: they are credited and answered by name, and
// a relay that lies about them is refused.
#include "server/service/relays.h"
#include "shared/crypto/statements.h"
#include "shared/protocol/codec.h"
#include "shared/protocol/join_code.h"
#include "tests/unit/service/world.h"

using namespace gleaner;
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
  crypto::PrivateKey key = crypto::PrivateKey::generate();
  std::string project;
  HostId relay;
  std::vector<Child> children;
  ProblemId problem;

  explicit Lab(int items = 40) {
    project = must(protocol::decode<protocol::ProjectDocument>(world.service().enrolment().project().payload))
                  .project;
    world.service().overview().set_listening_port(8443);
    const auto made = must(World::wait<protocol::MadeCode>(
        [&](auto done) { world.service().relays().allow({.name = "lab", .children = 9}, std::move(done)); }));
    auto request = computer("lab", key);
    request.secret = must(protocol::parse_join_code(made.join_code)).enrolment_secret;
    request.relay = protocol::RelayRequest{crypto::sha256_hex("tls")};
    relay = must(world.enrol(request)).host;
    for (const char* name : {"a", "b"}) add_child(name);
    world.add_application();
    problem = world.add_problem(items, "", "static,mode=paper");
  }
  protocol::EnrolRequest computer(const std::string& name, const crypto::PrivateKey& own) const {
    auto request = world.enrol_request(name);
    request.host_key = own.public_key();
    request.machine = crypto::sha256_hex(name);
    return request;
  }
  void add_child(const std::string& name) {
    Child child{{}, crypto::PrivateKey::generate()};
    auto request = computer(name, child.key);
    request.secret.clear();
    request.proof =
        crypto::sign_statement(StatementType::enrolment,
                               protocol::encode(protocol::Enrolment{project, relay, request.host_key,
                                                                    request.machine, world.clock().now()}),
                               child.key);
    child.id = must(World::wait<protocol::RelayHostReply>([&](auto done) {
                 world.service().relays().join(relay, request, "192.0.2.1", std::move(done));
               })).host;
    children.push_back(std::move(child));
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
        [&](auto done) { world.service().enrolment().host(host, std::move(done)); }));
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
  refuses(with(nothing, lab.key), "");
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
  refuses(plain, "only what a host says");  // its own it would be
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
  CHECK(says(answer.reason, "only a relay"));
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
