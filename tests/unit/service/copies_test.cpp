// Two programs with one host's identity: which is told, what each may do meanwhile, who hears of it.
#include "server/service/core/copies.h"
#include "server/service/core/project_directory.h"
#include "shared/crypto/statements.h"
#include "shared/protocol/codec.h"
#include "tests/unit/says.h"
#include "tests/unit/service/relay_enrolment.h"

namespace gleaner::service::testing {
namespace {

// A run of a host's program.
struct Run {
  World& world;
  HostId host;
  protocol::Instance instance;

  Result<protocol::WorkReply> ask(int slots = 1) {
    auto request = world.work_request(slots);
    ++instance.sequence;
    request.instance = instance;
    return world.work(host, request);
  }
};

protocol::ServerStatus status_of_server(World& world) {
  return must(World::wait<protocol::ServerStatus>([&](Done<protocol::ServerStatus> done) {
    world.service().overview().status(std::move(done), protocol::Role::own);
  }));
}

TEST_CASE("the later of two programs with one identity is told to part, and is named") {
  World world;
  world.add_application();
  const TestHost host = world.add_host("alpha");
  (void)world.add_problem(300);
  Run first{world, host.id, {11, 0}}, second{world, host.id, {22, 0}};
  CHECK(!must(first.ask()).grants.empty());
  for (int i = 0; i < 2; ++i) {
    CHECK_FALSE(must(second.ask()).instance);
    CHECK_FALSE(must(first.ask()).instance);
  }
  const auto told = must(second.ask());
  CHECK(told.instance == protocol::InstanceOrder::part);
  CHECK(told.grants.empty());
  const auto goes_on = must(first.ask());
  CHECK_FALSE(goes_on.instance);
  CHECK(!goes_on.grants.empty());
  // A server that starts anew finds it anew.
  const auto warnings = status_of_server(world).warnings;
  REQUIRE(warnings.size() == 1);
  CHECK(says(warnings[0], "(alpha): two computers use its identity"));
  auto request = world.enrol_request("beta");
  request.copy_of = host.id;
  const HostId own = must(world.enrol(request)).host;
  CHECK(own != host.id);
  CHECK(says(status_of_server(world).warnings.at(0), "has joined as host " + std::to_string(own.value)));
  // Who joins may name any host, as often as it likes: few are told, each once.
  for (int i = 0; i < 20; ++i) {
    auto another = world.enrol_request("gamma " + std::to_string(i));
    another.copy_of = host.id;
    for (int time = 0; time < 2; ++time) (void)must(world.enrol(another));
  }
  const std::string text = status_of_server(world).warnings.at(0);
  CHECK(std::count(text.begin(), text.end(), ',') == 1 + 7);  // one between the words
  world.clock().advance(std::chrono::hours{25});
  CHECK(status_of_server(world).warnings.empty());
}

TEST_CASE(
    "a copy with the name of the host that it was goes by its number beside it, however often it joins") {
  World world;
  const TestHost host = world.add_host("alpha");
  auto request = world.enrol_request("its copy");
  request.name = "alpha";
  request.copy_of = host.id;
  const HostId copy = must(world.enrol(request)).host;
  REQUIRE(copy != host.id);
  CHECK(must(world.enrol(request)).host == copy);
  auto other = world.enrol_request("beta");
  other.copy_of = host.id;
  const HostId named = must(world.enrol(other)).host;
  const auto name_of = [&world](HostId id) {
    return world.look<std::string>([id](Transaction& tx) { return tx.model.hosts.at(id).row.name; });
  };
  CHECK(name_of(host.id) == "alpha");
  CHECK(name_of(copy) == "alpha (" + std::to_string(copy.value) + ")");
  CHECK(name_of(named) == "beta");
}

TEST_CASE("however many claim to be copies, those of the project's own computers are told first") {
  World world(Hosts::strangers);
  const auto many = [&world](bool own, int count) {
    HostId last;
    for (int i = 0; i < count; ++i) {
      last = world.add_host((own ? "own " : "stranger ") + std::to_string(i)).id;
      (void)world.look<bool>([=](Transaction& tx) {
        Host& host = tx.model.hosts.at(last);
        host.row.own = own;
        for (int time = 0; time < 3; ++time)
          for (const std::int64_t id : {11, 22}) (void)hear_instance(tx, host, protocol::Instance{id, time});
        return true;
      });
    }
    return last;
  };
  (void)many(false, 150);
  const HostId own = many(true, 1);
  const auto warnings = status_of_server(world).warnings;
  REQUIRE(warnings.size() == limits::copied_hosts_told_max + 1);
  CHECK(says(warnings.front(), "host " + std::to_string(own.value) + " (own 0)"));
  CHECK(says(warnings.back(), "51 more hosts"));
}

TEST_CASE("what one of two holds is not given back because the other one does not say it") {
  World world;
  world.add_application();
  const TestHost host = world.add_host("alpha");
  const ProblemId problem = world.add_problem(300);
  Run first{world, host.id, {11, 0}}, second{world, host.id, {22, 0}};
  (void)must(first.ask());
  (void)must(second.ask());  // as after a start: what it does not hold is given back
  CHECK(world.show(problem).open_units == 1);
  (void)must(first.ask());
  CHECK(world.show(problem).open_units == 2);
}

TEST_CASE("memory that was put back draws another number, and a client of before says none") {
  World world;
  world.add_application();
  const TestHost host = world.add_host("alpha");
  Run run{world, host.id, {11, 0}};
  for (int i = 0; i < 5; ++i) CHECK_FALSE(must(run.ask()).instance);
  run.instance.sequence = 2;
  CHECK(must(run.ask()).instance == protocol::InstanceOrder::renew);
  for (int i = 0; i < 5; ++i) CHECK_FALSE(must(world.work(host.id, world.work_request())).instance);
  CHECK(status_of_server(world).warnings.empty());
}

TEST_CASE("what the project gave to a host under a number that it does not know any more is taken") {
  World world;
  world.add_application();
  const TestHost host = world.add_host("alpha"), other = world.add_host("beta");
  const ProblemId problem = world.add_problem(30);
  protocol::Grant given = world.grants(host.id).front();
  given.unit = UnitId{given.unit.value + 777'777};  // of after the backup
  given.host = HostId{99};
  given.range = {20, 30};
  const auto secrets = must(read_secrets(io::real_files(), world.project(), world.clock().now()));
  const auto brought = [&](const crypto::PrivateKey& key, Range range) {
    auto commit = World::results(given.unit, range);
    commit.given = protocol::GivenUnit{
        crypto::sign_statement(protocol::StatementType::grant, protocol::encode(given), key), {}};
    return commit;
  };
  const auto refused = must(world.commit(other.id, World::results(given.unit, {22, 26})));
  CHECK(refused.status == protocol::CommitStatus::refused);
  CHECK(says(refused.reason, "never gave unit"));
  const auto forged = must(world.commit(other.id, brought(crypto::PrivateKey::generate(), {22, 26})));
  CHECK(forged.status == protocol::CommitStatus::refused);
  const auto outside = must(world.commit(other.id, brought(secrets.work_key, {18, 26})));
  CHECK(outside.status == protocol::CommitStatus::refused);
  // What it had delivered of the unit before is lost with the server.
  const auto taken = must(world.commit(other.id, brought(secrets.work_key, {22, 26})));
  CHECK(taken.status == protocol::CommitStatus::accepted);
  CHECK(taken.items_accepted == 4);
  CHECK(taken.host == other.id);
  world.restart();
  CHECK(must(world.commit(other.id, brought(secrets.work_key, {26, 30}))).items_accepted == 4);
  const auto again = must(world.commit(other.id, brought(secrets.work_key, {22, 26})));
  CHECK(again.items_accepted == 4);
  CHECK(world.show(problem).accepted == 8);
  // It is that host's from then on.
  CHECK(must(world.commit(host.id, brought(secrets.work_key, {22, 26}))).status ==
        protocol::CommitStatus::refused);
}

TEST_CASE("a relay's copy is answered nothing but that it is one") {
  World world;
  world.add_application();
  const Computer lab{"lab"};
  const HostId relay =
      must(world.enrol(relay_request(world, lab, secret_for_relay(world, lab.name, 9)))).host;
  (void)world.add_problem(300);
  Run first{world, relay, {11, 0}}, second{world, relay, {22, 0}};
  (void)must(first.ask());
  for (int i = 0; i < 2; ++i) {
    (void)must(second.ask());
    (void)must(first.ask());
  }
  const auto told = must(second.ask());
  CHECK(told.instance == protocol::InstanceOrder::part);
  CHECK(told.units.empty());
  CHECK(says(status_of_server(world).warnings.at(0), "two relays use its identity"));
}

}  // namespace
}  // namespace gleaner::service::testing
