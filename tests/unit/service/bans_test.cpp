// Bans: whom they keep out and for how long, that they are all there or not, and that nobody bans himself.
#include "shared/protocol/join_code.h"
#include "tests/unit/service/world.h"

using namespace gleaner;
using namespace gleaner::service;
using namespace gleaner::service::testing;
using protocol::BanKind;

namespace {

Result<protocol::Ban> ban(World& world, protocol::AddBan request, const std::string& asker = "198.51.100.1") {
  return World::wait<protocol::Ban>(
      [&](Done<protocol::Ban> done) { world.service().bans().add(request, "ann", asker, std::move(done)); });
}

Result<protocol::Ban> lift(World& world, const std::string& kind, const std::string& subject) {
  return World::wait<protocol::Ban>(
      [&](Done<protocol::Ban> done) { world.service().bans().remove(kind, subject, std::move(done)); });
}

std::size_t count_of_bans(World& world) {
  return must(World::wait<std::vector<protocol::Ban>>(
                  [&](auto done) { world.service().bans().list(std::move(done)); }))
      .size();
}

std::string refusal(const Status& status) {
  REQUIRE(!status.ok());
  CHECK(status.error().kind == ErrorKind::banned);
  return status.error().message;
}

}  // namespace

TEST_CASE("a network is kept out, also after a restart, until its ban ends") {
  World world;
  const auto check = [&](const std::string& address) {
    return world.service().bans().check_address(address);
  };
  CHECK(check("192.0.2.7").ok());
  CHECK(must(ban(world, {BanKind::network, "192.0.2.9/24", "spam", 3600})).subject == "192.0.2.0/24");
  must(ban(world, {BanKind::network, "2001:db8::1", "", 0}));
  for (int i = 0; i < 2; ++i) {
    CHECK(says(refusal(check("192.0.2.7")), "the network 192.0.2.0/24 is banned from this project until 2"));
    CHECK(says(refusal(check("192.0.2.7")), "(spam)"));
    CHECK(says(refusal(check("::ffff:192.0.2.255")), "192.0.2.0/24"));
    CHECK(says(refusal(check("2001:db8::ffff:1")), "2001:db8::/64 is banned from this project:"));
    CHECK(check("192.0.3.1").ok());
    CHECK(check("2001:db8:0:1::1").ok());
    CHECK(check("unknown").ok());
    (void)world.memory();
    world.restart();
  }
  CHECK(count_of_bans(world) == 2);
  world.clock().advance(std::chrono::seconds{3600});
  CHECK(check("192.0.2.7").ok());
  CHECK(count_of_bans(world) == 1);
  CHECK(must(lift(world, "network", "2001:db8::/64")).made_by == "ann");
  CHECK(check("2001:db8::1").ok());
  CHECK(lift(world, "network", "2001:db8::/64").error().kind == ErrorKind::not_found);
  CHECK(lift(world, "planet", "earth").error().kind == ErrorKind::not_found);
}

TEST_CASE("what cannot be banned: oneself, too much, what is not there") {
  World world;
  const protocol::AddBan all{BanKind::network, "192.0.0.0/8", "", 0};
  CHECK(ban(world, all, "192.0.2.7").error().kind == ErrorKind::conflict);
  CHECK(ban(world, all, "::ffff:192.0.2.7").error().kind == ErrorKind::conflict);
  CHECK(ban(world, {BanKind::network, "0.0.0.0/0", "", 0}).error().kind == ErrorKind::invalid);
  CHECK(ban(world, {BanKind::key, "7", "", 0}).error().kind == ErrorKind::not_found);
  CHECK(ban(world, {BanKind::key, "abc", "", 0}).error().kind == ErrorKind::invalid);
  CHECK(ban(world, {BanKind::code, "none", "", 0}).error().kind == ErrorKind::not_found);
  CHECK(count_of_bans(world) == 0);
  auto forced = all;
  forced.force = true;
  must(ban(world, forced, "192.0.2.7"));
}

TEST_CASE("a banned key's host stops at once and may return when the ban is over") {
  World world;
  world.add_application();
  const ProblemId problem = world.add_problem(100);
  const auto request = world.enrol_request("bad");
  const auto host = must(world.enrol(request));
  CHECK(!world.grants(host.host).empty());
  must(ban(world, {BanKind::key, std::to_string(host.host.value), "lies", 600}));
  CHECK(world.show(problem).open_units == 0);
  for (int i = 0; i < 2; ++i) {
    CHECK(says(refusal(status_of(world.service().enrolment().authenticate_host(host.token))), "(lies)"));
    CHECK(says(refusal(status_of(world.enrol(request))), "this computer is banned"));
    world.restart();
  }
  world.clock().advance(std::chrono::seconds{600});
  CHECK(world.service().enrolment().authenticate_host(host.token).error().kind == ErrorKind::forbidden);
  CHECK(must(world.enrol(request)).host == host.host);
}

TEST_CASE("a banned code is withdrawn, and its hosts' keys are kept out whatever code they show") {
  World world;
  world.service().overview().set_listening_port(8443);
  protocol::AddCode lab;
  lab.name = "lab";
  const auto made = must(
      World::wait<protocol::MadeCode>([&](auto done) { world.service().codes().add(lab, std::move(done)); }));
  auto request = world.enrol_request("one");
  const Bytes other = request.secret;
  request.secret = must(protocol::parse_join_code(made.join_code)).enrolment_secret;
  const auto host = must(world.enrol(request));
  const TestHost bystander = world.add_host("two");
  must(ban(world, {BanKind::code, "lab", "leaked", 0}));
  CHECK(says(refusal(status_of(world.service().enrolment().authenticate_host(host.token))), "leaked"));
  CHECK(says(refusal(status_of(world.enrol(request))), "the join code lab"));
  request.secret = other;
  CHECK(says(refusal(status_of(world.enrol(request))), "leaked"));
  CHECK(world.service().enrolment().authenticate_host(bystander.token).ok());
  must(lift(world, "code", "lab"));
  CHECK(must(world.enrol(request)).host == host.host);
}

TEST_CASE("whatever call of the store fails, all of a ban is there or nothing") {
  World world;
  const TestHost host = world.add_host("one");
  with_each_failure(world, [&](World& w) {
    return status_of(ban(w, {BanKind::key, std::to_string(host.id.value), "", 0}));
  });
  CHECK(refusal(status_of(world.service().enrolment().authenticate_host(host.token))).size() > 10);
  with_each_failure(world,
                    [&](World& w) { return status_of(lift(w, "key", std::to_string(host.id.value))); });
  CHECK(count_of_bans(world) == 0);
}
